// PlayerError is every error of this library. kind is
//
//   refused   the server granted less than asked for; granted has its reply, which is in force, and
//             reasons say why: { why, text } by device, a word of PROTOCOL 8.9.1 and text for people. A device is
//             its letter, or its name if it has none, for example laser:1
//   timeout   the time limit has passed; the connection is still usable, and the next read completes
//             a round that arrived in part
//   closed    there is no connection: it was lost, closed, or not possible
//   protocol  the server sent bytes that do not match the protocol; the next read continues after them
//   usage     the call is not possible in this state, or with these arguments; nothing was sent
export class PlayerError extends Error {
  constructor(kind, text, granted, reasons) {
    super(text);
    this.name = "PlayerError";
    this.kind = kind;
    if (granted !== undefined) Object.assign(this, { granted, reasons });
  }
}

// isReply reports whether a reply is to a request.
export function isReply(asked, granted) {
  const devices = (pairs) => [...pairs].filter((_, i) => i % 2 === 0).join("");
  return asked.length === granted.length && devices(asked) === devices(granted);
}

// enough reports whether an access includes what was asked for: r, followed by w in another request, is
// granted as a.
const enough = (asked, granted) => granted === asked || (granted === "a" && (asked === "r" || asked === "w"));

// compare returns the granted pairs, or throws an error if they are less than those asked for. known has
// the reasons that the server gave, by device. nameOf returns what a device is called in them.
export function compare(asked, granted, known = {}, nameOf = (device) => device) {
  if (!isReply(asked, granted)) {
    throw new PlayerError("protocol", `request "${asked}": the reply "${granted.replace(/[^ -~]/g, "?")}" answers another request`);
  }
  const differences = [], reasons = {};
  for (let i = 0; i < asked.length; i += 2) {
    const device = nameOf(asked[i]), access = granted[i + 1];
    if (enough(asked[i + 1], access)) continue;
    let why = "";
    if (access === "e" && known[device]) reasons[device] = known[device];
    if (access === "e") why = `: ${reasons[device]?.text ?? "the server's log has the reason"}`;
    differences.push(`device ${device} asked ${asked[i + 1]} granted ${access}${why}`);
  }
  if (differences.length > 0) {
    throw new PlayerError("refused", `access is not as requested: ${differences.join("; ")}`, granted, reasons);
  }
  return granted;
}
