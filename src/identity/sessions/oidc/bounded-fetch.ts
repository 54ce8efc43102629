import { boundAnswer } from "#lib/net/bound-answer.ts";

/** The most bytes of an answer, inflated. */
const mostBytes = 64 * 1024;

/** Fetches an answer of the provider, and reads no more of it than any answer of OpenID Connect needs. */
export async function boundedFetch(url: string, options: object): Promise<Response> {
  return boundAnswer(await fetch(url, options), mostBytes, "the provider's");
}
