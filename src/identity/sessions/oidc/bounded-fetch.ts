/** The most bytes of an answer, inflated. */
const mostBytes = 64 * 1024;
/** Statuses whose answers have no body. */
const empty: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** Fetches an answer of the provider, and reads no more of it than any answer of OpenID Connect needs. */
export async function boundedFetch(url: string, options: object): Promise<Response> {
  const response = await fetch(url, options);
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > mostBytes) {
      throw new TypeError(`the provider's answer is larger than ${mostBytes} bytes`); // which also ends its connection
    }
    pieces.push(piece);
  }
  const { status, statusText, headers } = response;
  return new Response(empty.has(status) ? null : Buffer.concat(pieces), { status, statusText, headers });
}
