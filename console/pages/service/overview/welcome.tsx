import { metering } from "../../../contract/clients.ts";
import { useQuery } from "../../../parts/calls/use-query.ts";

const refreshMs = 5000;

/** A link to the first steps, until there is a first receipt. */
export function Welcome() {
  const { data: hasReceipts = true } = useQuery(
    async (signal) => (await metering.listReceipts({ pageSize: 1 }, { signal })).receipts.length > 0,
    [],
    refreshMs,
  );
  if (hasReceipts) {
    return null;
  }
  return (
    <div class="welcome card">
      <div>
        <h2>No request was made yet</h2>
        <p class="muted">Make an account and its key, send a request, and see what it cost: it takes a minute.</p>
      </div>
      <a class="button primary" href="/first-run">
        Make the first request
      </a>
    </div>
  );
}
