import type { ToolCall } from "./text/chat-template.ts";
import { pieces, special, tokenId } from "./text/tokenizer.ts";
import type { Token } from "./text/words.ts";

/**
 * The part of an answer to which an output token belongs. `silent` tokens have no text: markers, and half a character.
 */
export type TokenKind = "silent" | "reasoning" | "text" | "call" | "arguments";

export type FinishReason = "stop" | "length" | "tool_calls";

/**
 * A model's answer, token by token: ids, and the text that each token adds for the reader. A `call` token starts the
 * next of `calls`; `arguments` tokens belong to the last started call.
 */
export class Output {
  readonly ids: number[] = [];
  readonly kinds: TokenKind[] = [];
  readonly texts: string[] = [];
  readonly calls: ToolCall[] = [];
  finish: FinishReason = "stop";
  /** The stop sequence that ended the output. */
  stopSequence: string | undefined;

  get length(): number {
    return this.ids.length;
  }

  push(kind: TokenKind, text: string, id: number): void {
    this.ids.push(id);
    this.kinds.push(kind);
    this.texts.push(text);
  }

  mark(id: number): void {
    this.push("silent", "", id);
  }

  pushTokens(kind: TokenKind, tokens: readonly Token[]): void {
    for (const { text, id } of tokens) {
      this.push(kind, text, id);
    }
  }

  pushText(kind: TokenKind, text: string): void {
    let held = "";
    for (const piece of pieces(text)) {
      const id = tokenId(piece);
      if (isHalf(piece)) {
        // A character of two tokens is emitted with the second one.
        held += piece;
        this.push("silent", "", id);
        continue;
      }
      this.push(kind, held + piece, id);
      held = "";
    }
    if (held !== "") {
      this.push(kind, held, tokenId(held));
    }
  }

  pushCall(call: ToolCall): void {
    this.mark(special.callStart);
    this.calls.push(call);
    this.push("call", "", tokenId(call.name));
    this.pushText("arguments", call.arguments);
    this.mark(special.callEnd);
    this.finish = "tool_calls";
  }

  /** Ends the output after at most `limit` tokens. */
  limit(limit: number): void {
    if (this.length <= limit) {
      return;
    }
    this.#cut(limit);
    this.finish = "length";
    this.stopSequence = undefined;
  }

  /** Ends the output with the token that completes one of the sequences, but not before token number `from`. */
  stopAt(sequences: readonly string[], from: number, keep: boolean): void {
    if (sequences.length === 0) {
      return;
    }
    let text = "";
    for (let at = 0; at < this.length; at++) {
      const piece = this.texts[at] ?? "";
      if (piece === "" || this.kinds[at] === "arguments") {
        continue;
      }
      text += piece;
      if (at < from) {
        continue;
      }
      const completed = (sequence: string) =>
        text.indexOf(sequence, Math.max(0, text.length - piece.length - sequence.length + 1));
      const sequence = sequences.find((one) => completed(one) >= 0);
      if (sequence !== undefined) {
        this.#cut(at + 1);
        this.#shorten(text.length - completed(sequence) - (keep ? sequence.length : 0));
        this.finish = "stop";
        this.stopSequence = sequence;
        return;
      }
    }
  }

  #cut(length: number): void {
    this.ids.length = length;
    this.kinds.length = length;
    this.texts.length = length;
    this.calls.length = this.kinds.reduce((count, kind) => count + (kind === "call" ? 1 : 0), 0);
  }

  #shorten(characters: number): void {
    let left = characters;
    for (let at = this.length - 1; left > 0 && at >= 0; at--) {
      const text = this.texts[at] ?? "";
      const kept = Math.max(0, text.length - left);
      left -= text.length - kept;
      this.texts[at] = text.slice(0, kept);
      if (kept === 0 && text !== "") {
        this.kinds[at] = "silent";
      }
    }
  }
}

function isHalf(piece: string): boolean {
  const unit = piece.charCodeAt(piece.length - 1);
  return unit >= 0xd800 && unit < 0xdc00;
}
