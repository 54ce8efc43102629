import { siteName } from "../../contract/site.ts";
import { type Choice, type Json, type Piece, surfaces } from "./surfaces.ts";

/** The facts of an answer. */
export interface Sent {
  readonly requestId: string;
  readonly status: number;
  /** Milliseconds from the request to the first piece. Undefined: no piece came. */
  readonly firstMs: number | undefined;
  readonly totalMs: number;
}

/** Sends a request like any client, and reports each piece of its answer. Throws the surface's error. */
export async function send(
  choice: Choice,
  apiKey: string,
  signal: AbortSignal,
  onPiece: (piece: Piece) => void,
): Promise<Sent> {
  const surface = surfaces[choice.surface];
  const begun = performance.now();
  const response = await fetch(surface.path, {
    method: "POST",
    headers: { "content-type": "application/json", ...surface.headers(apiKey) },
    body: JSON.stringify(surface.body(choice)),
    signal,
  });
  const requestId = response.headers.get("x-request-id") ?? "";
  if (!response.ok) {
    const body: Json = await response.json().catch(() => undefined);
    throw new Error(surface.error(body) ?? `${siteName()} answered ${response.status}.`);
  }
  let firstMs: number | undefined;
  const tell = (data: Json): void => {
    const problem = surface.error(data);
    if (problem !== undefined) {
      throw new Error(problem);
    }
    const piece = surface.read(data);
    if (piece.text || piece.thinking || piece.calls?.length) {
      firstMs ??= performance.now() - begun;
      onPiece(piece);
    }
  };
  if (choice.isStreamed && response.body !== null) {
    for await (const data of readEvents(response.body)) {
      tell(data);
    }
  } else {
    tell(await response.json());
  }
  return { requestId, status: response.status, firstMs, totalMs: performance.now() - begun };
}

/** The parsed data of server-sent events. */
async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Json> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const events = (rest + read.value).split(/\r?\n\r?\n/);
    rest = events.pop() ?? "";
    for (const event of events) {
      const data = /^data: ?(.*)$/m.exec(event)?.[1];
      if (data !== undefined && data !== "[DONE]") {
        yield JSON.parse(data);
      }
    }
  }
}
