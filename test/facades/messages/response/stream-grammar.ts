/**
 * Checks a messages-style stream as a strict client would, knowing nothing of the encoder: from the
 * bytes alone, by the public description of the format. Throws at the first violation.
 */

/** What a client makes of a whole stream. */
export interface DecodedAnswer {
  id: string;
  model: string;
  thinking: string;
  text: string;
  calls: { id: string; name: string; input: unknown }[];
  stopReason: string;
  inputTokensAtStart: number;
  usage: Record<string, unknown>;
  /** The types of the blocks in their order. */
  blocks: string[];
}

interface Frame {
  event: string;
  data: Record<string, unknown>;
}

/** Splits the body of a stream into its frames. */
export function frames(body: string): Frame[] {
  assert(body.endsWith("\n\n"), "a stream ends with a whole frame");
  return body
    .slice(0, -2)
    .split("\n\n")
    .map((frame) => {
      const match = /^event: ([a-z_]+)\ndata: ([^\n\r]+)$/.exec(frame);
      assert(match !== null, `a frame is an event line and a data line, got ${JSON.stringify(frame)}`);
      const data = object(JSON.parse(match[2] ?? ""));
      assert(data.type === match[1], `event ${match[1]} carries type ${data.type}`);
      return { event: match[1] ?? "", data };
    });
}

/** Reads a whole stream. Incomplete tool arguments are allowed only when the output limit ended the answer. */
export function decodeStream(body: string): DecodedAnswer {
  const rest = frames(body).filter(({ event }) => event !== "ping");
  const answer = messageStart(take(rest, "message_start"));
  while (rest[0]?.event === "content_block_start") {
    block(rest, answer);
  }
  const delta = take(rest, "message_delta");
  const change = object(delta.delta);
  assert(typeof change.stop_reason === "string", "message_delta names the stop reason");
  assert(change.stop_sequence === null, "stop_sequence is null");
  answer.stopReason = change.stop_reason;
  answer.usage = object(delta.usage);
  assert(isCount(answer.usage.output_tokens), "usage.output_tokens is a count");
  assert(isCount(answer.usage.input_tokens), "usage.input_tokens is a count");
  take(rest, "message_stop");
  assert(rest.length === 0, "nothing follows message_stop");
  for (const call of answer.calls) {
    if (answer.stopReason !== "max_tokens") {
      call.input = object(JSON.parse(call.input as string));
    }
  }
  return answer;
}

function messageStart(data: Record<string, unknown>): DecodedAnswer {
  const message = object(data.message);
  assert(typeof message.id === "string" && message.id.startsWith("msg_"), "the id starts with msg_");
  assert(message.type === "message" && message.role === "assistant", "type and role are fixed");
  assert(typeof message.model === "string", "the model is named");
  assert(Array.isArray(message.content) && message.content.length === 0, "content starts empty");
  assert(message.stop_reason === null && message.stop_sequence === null, "no stop reason yet");
  const usage = object(message.usage);
  assert(isCount(usage.input_tokens), "usage.input_tokens is a count");
  assert(usage.output_tokens === 0, "clients that add up start from 0");
  return {
    id: message.id,
    model: message.model,
    thinking: "",
    text: "",
    calls: [],
    stopReason: "",
    inputTokensAtStart: usage.input_tokens,
    usage: {},
    blocks: [],
  };
}

function block(rest: Frame[], answer: DecodedAnswer): void {
  const start = take(rest, "content_block_start");
  const index = answer.blocks.length;
  assert(start.index === index, `block ${index} has its index`);
  const head = object(start.content_block);
  assert(!("citations" in head) && head.caller !== null, "no null citations or caller");
  answer.blocks.push(String(head.type));
  const deltas: Record<string, unknown>[] = [];
  while (rest[0]?.event === "content_block_delta") {
    const delta = take(rest, "content_block_delta");
    assert(delta.index === index, "a delta belongs to the open block");
    deltas.push(object(delta.delta));
  }
  assert(take(rest, "content_block_stop").index === index, "the open block is the one that stops");
  switch (head.type) {
    case "thinking": {
      assert(head.thinking === "" && head.signature === "", "a thinking block starts empty");
      const signature = deltas.pop();
      assert(signature?.type === "signature_delta", "a signature comes last");
      assert(typeof signature.signature === "string" && signature.signature !== "", "the signature is not empty");
      answer.thinking += pieces(deltas, "thinking_delta", "thinking");
      break;
    }
    case "text":
      assert(head.text === "", "a text block starts empty");
      answer.text += pieces(deltas, "text_delta", "text");
      break;
    case "tool_use":
      assert(typeof head.id === "string" && head.id !== "", "a call has an id");
      assert(typeof head.name === "string" && head.name !== "", "a call has a name");
      assert(JSON.stringify(head.input) === "{}", "arguments come in deltas only");
      answer.calls.push({ id: head.id, name: head.name, input: pieces(deltas, "input_json_delta", "partial_json") });
      break;
    default:
      throw new Error(`no such block: ${head.type}`);
  }
}

function pieces(deltas: readonly Record<string, unknown>[], type: string, field: string): string {
  assert(deltas.length > 0, "no block without content");
  return deltas
    .map((delta) => {
      assert(delta.type === type, `a ${type} was due, got ${delta.type}`);
      const piece = delta[field];
      assert(typeof piece === "string" && piece !== "", "no empty delta");
      return piece;
    })
    .join("");
}

function take(rest: Frame[], event: string): Record<string, unknown> {
  const frame = rest.shift();
  assert(frame?.event === event, `${event} was due, got ${frame?.event ?? "the end"}`);
  return frame.data;
}

function object(value: unknown): Record<string, unknown> {
  assert(typeof value === "object" && value !== null && !Array.isArray(value), "an object was due");
  return value as Record<string, unknown>;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function assert(condition: boolean, rule: string): asserts condition {
  if (!condition) {
    throw new Error(`stream grammar: ${rule}`);
  }
}
