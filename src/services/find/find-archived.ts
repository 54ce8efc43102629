import { readRequestTime, toRequestId } from "#lib/ids/request-id.ts";
import type { ArchivedReceipts } from "#src/money/books/receipts/archived-receipts.ts";
import type { Found } from "./found.ts";

/** A request that has left the books, by an id that the service made: any other would be looked for in all archives. */
export async function findArchived(
  archives: Pick<ArchivedReceipts, "find">,
  text: string,
  accountId: string,
): Promise<Found[]> {
  const requestId = toRequestId(text);
  if (readRequestTime(requestId) === undefined) {
    return [];
  }
  const receipts = await archives.find(requestId, accountId || undefined);
  const own = receipts.find((receipt) => [receipt.accountId, ""].includes(accountId));
  return own === undefined ? [] : [{ kind: "request", id: requestId, name: own.model, accountId: own.accountId }];
}
