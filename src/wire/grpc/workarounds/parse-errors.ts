import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";

/*
 * Wrong: Protobuf that cannot be read is called an internal error of the server, as it is where a client reads an answer.
 * Here it is the caller's fault, as JSON that cannot be read is. Unary calls are read before the interceptors run,
 * streams after.
 * Upstream: @connectrpc/connect 2.2.0 (`parse` in protocol/serialization.js).
 * Still needed while test/wire/grpc/workarounds/parse-errors.test.ts gets a 500 without it.
 * Delete when `parse` says invalid_argument.
 */

const found = "parse binary: ";
const told = "The request message cannot be read: ";

/** Gives a stream's broken message the code that it deserves. */
export const mendStreamParseErrors: Interceptor = (next) => (request) =>
  request.stream ? next({ ...request, message: mend(request.message) }) : next(request);

async function* mend<M>(messages: AsyncIterable<M>): AsyncGenerator<M> {
  try {
    yield* messages;
  } catch (error) {
    const broken = error instanceof ConnectError && error.code === Code.Internal && error.rawMessage.startsWith(found);
    throw broken ? new ConnectError(error.rawMessage.replace(found, told), Code.InvalidArgument) : error;
  }
}

/** Gives a unary call's broken message the code and status that it deserves. */
export async function mendParseError(response: UniversalServerResponse): Promise<UniversalServerResponse> {
  if (response.status !== 500 || response.header?.has("content-encoding") || response.body == null) {
    return response;
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) {
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const same = { ...response, body: once(body) };
  const error = readError(body);
  if (error?.code !== "internal" || !error.message.startsWith(found)) {
    return same;
  }
  const mended = Buffer.from(JSON.stringify({ code: "invalid_argument", message: error.message.replace(found, told) }));
  const header = new Headers(response.header);
  header.set("content-length", String(mended.length));
  return { ...response, status: 400, header, body: once(mended) };
}

function readError(body: Buffer): { code: unknown; message: string } | undefined {
  try {
    const { code, message = "" } = JSON.parse(body.toString());
    return { code, message: String(message) };
  } catch {
    return undefined;
  }
}

async function* once(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}
