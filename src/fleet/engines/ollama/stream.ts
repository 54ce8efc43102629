import type { EngineOutput } from "../interface.ts";
import type { AnswerBuilder } from "../shared/answer/answer-builder.ts";
import { checkCall } from "../shared/answer/check-call.ts";
import { checkList, checkObject, checkText, isAbsent } from "../shared/answer/check-type.ts";
import type { ToolCallDelta } from "../shared/answer/tool-calls.ts";
import { streamFailure, toRefusal } from "../shared/chat-completions/errors.ts";
import { exactCalls } from "../shared/chat-completions/exact-calls.ts";
import { isNoCount, readUsage } from "../shared/chat-completions/usage.ts";
import { engineFailed } from "../shared/faults.ts";
import type { HttpResponse } from "../shared/http/connection.ts";
import { LineSplitter } from "../shared/http/line-splitter.ts";
import type { StreamReader } from "../shared/http/stream.ts";

/** The parts of a line that are read. `response` and `thinking` come from `/api/generate`. */
interface Line {
  readonly error?: unknown;
  readonly message?: { readonly content?: string; readonly thinking?: string; readonly tool_calls?: ToolCallDelta[] };
  readonly response?: string;
  readonly thinking?: string;
  readonly done?: boolean;
  readonly done_reason?: string;
  readonly prompt_eval_count?: number;
  readonly eval_count?: number;
}

/** Ollama ends an answer without a last line after more than this many pieces that are equal apart from white space. */
const mostRepeats = 30;

/** Reads the JSON lines of a streamed answer. The count comes with the last line. */
export class LineReader implements StreamReader {
  readonly #where: string;
  readonly #answer: AnswerBuilder;
  readonly #lines = new LineSplitter((bytes, start, end) => {
    if (end > start && !this.complete) {
      this.#read(bytes.toString("utf8", start, end));
    }
  });
  #calls = 0;
  #lastPiece = "";
  #repeats = 0;

  /** `where` names the server for the log. */
  constructor(where: string, answer: AnswerBuilder) {
    this.#where = where;
    this.#answer = answer;
  }

  get complete(): boolean {
    return this.#answer.complete;
  }

  push(piece: Buffer): void {
    this.#lines.push(piece);
  }

  take(): EngineOutput | undefined {
    return this.#answer.take();
  }

  end(): void {
    this.#lines.end();
    if (this.complete) {
      return;
    }
    if (this.#repeats >= mostRepeats) {
      this.#answer.concludeUncounted("length");
    } else {
      this.#answer.conclude();
    }
  }

  refusal(response: HttpResponse): Error {
    return toRefusal(this.#where, response);
  }

  #read(text: string): void {
    const line = this.#parse(text);
    if (line.error) {
      throw streamFailure(this.#where, line.error);
    }
    this.#answer.touch();
    const thinking = line.message?.thinking || line.thinking;
    if (thinking) {
      this.#answer.addReasoning(thinking);
    }
    const content = line.message?.content || line.response;
    if (content) {
      this.#answer.addText(content);
    }
    this.#watchRepeats(thinking || content || "");
    // Calls come whole. Older versions give each the index 0, which is ignored.
    const find = (json: unknown) => (json as Line).message?.tool_calls ?? [];
    for (const { id, function: called } of exactCalls(find(line), text, find)) {
      this.#answer.addCall({ index: this.#calls++, ...(id && { id }), ...(called && { function: called }) });
    }
    if (line.done === true) {
      this.#finish(line);
    }
  }

  #watchRepeats(piece: string): void {
    if (piece === "") {
      return;
    }
    const trimmed = piece.trim();
    this.#repeats = trimmed === this.#lastPiece ? this.#repeats + 1 : 0;
    this.#lastPiece = trimmed;
  }

  #finish({ done_reason, prompt_eval_count, eval_count }: Line): void {
    this.#answer.addFinish(done_reason ?? "stop");
    const wire = { prompt_tokens: prompt_eval_count, completion_tokens: eval_count };
    const usage = readUsage(wire, undefined);
    if (usage !== undefined) {
      this.#answer.addUsage(usage);
    } else if (isNoCount(wire)) {
      this.#answer.addNoCount();
    }
    this.#answer.conclude();
  }

  #parse(text: string): Line {
    try {
      return checkLine(JSON.parse(text));
    } catch (error) {
      const what = error instanceof TypeError ? `whose ${error.message}` : "that is not JSON";
      throw engineFailed(`${this.#where} sent a line ${what}`, true, error);
    }
  }
}

function checkLine(value: unknown): Line {
  const { message, response, thinking, done_reason } = checkObject("line", value);
  checkText("response", response);
  checkText("thinking", thinking);
  checkText("done_reason", done_reason);
  if (isAbsent(message)) {
    return value as Line;
  }
  const { content, thinking: thought, tool_calls } = checkObject("message", message);
  checkText("content", content);
  checkText("thinking", thought);
  if (!isAbsent(tool_calls)) {
    for (const call of checkList("tool_calls", tool_calls)) {
      checkCall(call);
    }
  }
  return value as Line;
}
