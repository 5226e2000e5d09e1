// PlayerError is every error of this library. kind is
//
//   refused   the server granted other access than asked for; granted has its reply, which is in force
//   timeout   the time limit has passed; the connection is still usable, and the next read completes
//             a round that arrived in part
//   closed    there is no connection: it was lost, closed, or not possible
//   protocol  the server sent bytes that do not match the protocol; the next read continues after them
//   usage     the call is not possible in this state, or with these arguments; nothing was sent
export class PlayerError extends Error {
  constructor(kind, text, granted) {
    super(text);
    this.name = "PlayerError";
    this.kind = kind;
    if (granted !== undefined) this.granted = granted;
  }
}

// compare returns the granted pairs, or throws an error if they differ from those asked for.
export function compare(asked, granted) {
  const devices = (pairs) => [...pairs].filter((_, i) => i % 2 === 0).join("");
  if (asked.length !== granted.length || devices(asked) !== devices(granted)) {
    throw new PlayerError("protocol", `request "${asked}": the reply "${granted}" answers another request`);
  }
  const differences = [];
  for (let i = 0; i < asked.length; i += 2) {
    if (asked[i + 1] !== granted[i + 1]) differences.push(`device ${asked[i]} asked ${asked[i + 1]} granted ${granted[i + 1]}`);
  }
  if (differences.length > 0) {
    throw new PlayerError("refused", `access is not as requested: ${differences.join(", ")}`, granted);
  }
  return granted;
}
