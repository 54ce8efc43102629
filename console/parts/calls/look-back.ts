/** The answers without a row after which the reader is asked whether to look further back. */
const mostAsked = 10;

/**
 * Asks further back while nothing is found, for a moment: an answer looks at a share of all rows, and where few are like that,
 * most answers have none.
 */
export async function lookBack<Answer extends { readonly nextPageToken: string }>(
  pageToken: string,
  ask: (pageToken: string) => Promise<Answer>,
  isEmpty: (answer: Answer) => boolean,
): Promise<Answer> {
  let answer = await ask(pageToken);
  for (let times = 1; times < mostAsked && isEmpty(answer) && answer.nextPageToken !== ""; times += 1) {
    answer = await ask(answer.nextPageToken);
  }
  return answer;
}
