import { type Message, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";

/**
 * Puts system messages where chat templates accept them. The leading ones become one. A later one stays in place if the
 * model's template accepts it there, and otherwise joins the neighbouring user turn. None stays between a tool call and
 * its results.
 */
export function placeSystemMessages(messages: readonly Message[], anywhere: boolean): readonly Message[] {
  const start = messages.findIndex((message) => message.role !== Role.SYSTEM);
  const leading = start === -1 ? messages : messages.slice(0, start);
  const turns = messages.slice(leading.length);
  const later = turns.some((message) => message.role === Role.SYSTEM);
  if (!later && leading.length <= 1) {
    return messages;
  }
  const ordered = later ? moveBehindResults(turns) : turns;
  const placed = anywhere ? ordered : foldIntoUserTurns(ordered);
  return leading.length === 0 ? placed : [leading.reduce(append), ...placed];
}

function moveBehindResults(messages: readonly Message[]): Message[] {
  const ordered: Message[] = [];
  let waiting: Message[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === Role.SYSTEM && precedesResult(messages, index)) {
      waiting.push(message);
      continue;
    }
    if (message.role !== Role.TOOL) {
      ordered.push(...waiting);
      waiting = [];
    }
    ordered.push(message);
  }
  return [...ordered, ...waiting];
}

function precedesResult(messages: readonly Message[], index: number): boolean {
  return messages.slice(index).find((message) => message.role !== Role.SYSTEM)?.role === Role.TOOL;
}

/** Appends a system message to the user turn before it, or else after it. Between other turns it becomes one. */
function foldIntoUserTurns(messages: readonly Message[]): Message[] {
  const folded: Message[] = [];
  let made: Message | undefined; // a user turn that consists of system messages alone
  for (const message of messages) {
    const last = folded.at(-1);
    const system = message.role === Role.SYSTEM;
    const joined = last !== undefined && joins(message, last, last === made) ? append(last, message) : undefined;
    if (joined !== undefined) {
      folded.pop();
    }
    const turn = joined ?? (system ? { ...message, role: Role.USER } : message);
    folded.push(turn);
    made = system && (joined === undefined || last === made) ? turn : undefined;
  }
  return folded;
}

/** Whether a message becomes part of the user turn before it. `made`: that turn consists of system messages alone. */
function joins({ role }: Message, last: Message, made: boolean): boolean {
  return last.role === Role.USER && (role === Role.SYSTEM || (made && role === Role.USER));
}

/** The first message with the second one's text appended. */
function append(first: Message, second: Message): Message {
  return { ...first, text: `${first.text}\n\n${second.text}` };
}
