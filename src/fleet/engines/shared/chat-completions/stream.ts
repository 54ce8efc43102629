import type { EngineOutput } from "../../interface.ts";
import type { HttpResponse } from "../http/connection.ts";
import { longestLine } from "../http/line-splitter.ts";
import { SseParser } from "../http/sse-parser.ts";
import type { StreamReader } from "../http/stream.ts";
import type { ChunkReader } from "./chunk-reader.ts";
import { toRefusal } from "./errors.ts";

/** Reads chunks that come as server-sent events. */
export class SseReader implements StreamReader {
  readonly #where: string;
  readonly #chunks: ChunkReader;
  readonly #sse: SseParser;

  /** `where` names the server for the log. `longest` bounds a line, in bytes. */
  constructor(where: string, chunks: ChunkReader, longest = longestLine) {
    this.#where = where;
    this.#chunks = chunks;
    this.#sse = new SseParser((data) => chunks.read(data), longest);
  }

  get complete(): boolean {
    return this.#chunks.complete;
  }

  get isCut(): boolean {
    return this.#chunks.isCut;
  }

  push(piece: Buffer): void {
    this.#sse.push(piece);
  }

  take(): EngineOutput | undefined {
    return this.#chunks.take();
  }

  /** Some engines omit the end marker. */
  end(): void {
    this.#sse.end();
    this.#chunks.end();
  }

  refusal(response: HttpResponse): Error {
    return toRefusal(this.#where, response);
  }
}
