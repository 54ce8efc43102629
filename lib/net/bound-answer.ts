/** Statuses whose answers have no body. */
const empty: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** Reads an answer whole, if it has no more bytes than `mostBytes`, inflated; else throws, which ends its connection. */
export async function boundAnswer(answer: Response, mostBytes: number, whose: string): Promise<Response> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of answer.body ?? []) {
    size += piece.length;
    if (size > mostBytes) {
      throw new TypeError(`${whose} answer is larger than ${mostBytes} bytes`);
    }
    pieces.push(piece);
  }
  const { status, statusText, headers } = answer;
  return new Response(empty.has(status) ? null : Buffer.concat(pieces), { status, statusText, headers });
}
