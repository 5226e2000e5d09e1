// PlayerError is every error of this library, and has a class for each kind:
//
//   RefusedError   refused   the server granted less than asked for; granted has its reply, which is in force, and
//                            reasons say why: { why, text } by device, a word of PROTOCOL 8.9.1 and text for people. A
//                            device is called as in the request, or if that was letters, its letter, or its name if
//                            it has none, for example laser:1
//   TimeoutError   timeout   the time limit has passed; the connection is still usable, and the next read completes a
//                            round that arrived in part
//   ClosedError    closed    there is no connection: it was lost, closed, or not possible
//   ProtocolError  protocol  the server sent bytes that do not match the protocol; the next read continues after them
//   UsageError     usage     the call is not possible in this state, or with these arguments; nothing was sent
//   GotoError      goto      the robot has not arrived at the goal of goTo; data has what the device said last, or null
export class PlayerError extends Error {
  constructor(kind, text, granted = undefined, reasons = undefined) {
    super(text);
    this.name = "PlayerError";
    this.kind = kind;
    if (granted !== undefined) Object.assign(this, { granted, reasons });
  }
}

export class RefusedError extends PlayerError {
  constructor(text, granted = "", reasons = {}) {
    super("refused", text, granted, reasons);
    this.name = "RefusedError";
  }
}

export class TimeoutError extends PlayerError {
  constructor(text) {
    super("timeout", text);
    this.name = "TimeoutError";
  }
}

export class ClosedError extends PlayerError {
  constructor(text) {
    super("closed", text);
    this.name = "ClosedError";
  }
}

export class ProtocolError extends PlayerError {
  constructor(text) {
    super("protocol", text);
    this.name = "ProtocolError";
  }
}

export class UsageError extends PlayerError {
  constructor(text) {
    super("usage", text);
    this.name = "UsageError";
  }
}

export class GotoError extends PlayerError {
  constructor(text, data = null) {
    super("goto", text);
    this.name = "GotoError";
    this.data = data;
  }
}

// isReply reports whether a reply is to a request.
export function isReply(asked, granted) {
  const devices = (pairs) => [...pairs].filter((_, i) => i % 2 === 0).join("");
  return asked.length === granted.length && devices(asked) === devices(granted);
}

// enough reports whether an access includes the requested one: r, followed by w in another request, is
// granted as a.
const enough = (asked, granted) => granted === asked || (granted === "a" && (asked === "r" || asked === "w"));

// compare returns the granted pairs, or throws an error if they are less than those asked for. known has
// the reasons that the server gave, by device. nameOf returns the name of a device in them.
export function compare(asked, granted, known = {}, nameOf = (device) => device) {
  if (!isReply(asked, granted)) {
    throw new ProtocolError(`request "${asked}": the reply "${granted.replace(/[^ -~]/g, "?")}" answers another request`);
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
    throw new RefusedError(`access is not as requested: ${differences.join("; ")}`, granted, reasons);
  }
  return granted;
}
