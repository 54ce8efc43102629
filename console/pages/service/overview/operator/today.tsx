import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { metering } from "../../../../contract/clients.ts";
import { Answer } from "../../../../parts/calls/answer.tsx";
import { useQuery } from "../../../../parts/calls/use-query.ts";
import { Section } from "../../../../parts/frame/page.tsx";
import { ReceiptList } from "../../../../parts/receipts/receipt-list.tsx";
import { addUp, type Sum, toSum } from "../../../../parts/usage/sums.ts";
import { Total } from "../../../../parts/usage/total.tsx";

const refreshMs = 3000;
const daySeconds = 86_400;

/** Today's sums so far, and their parts. */
export function Today() {
  const query = useQuery(loadToday, [], refreshMs);
  return (
    <>
      <Section title="Today, since midnight UTC" actions={<a href="/usage">Open the usage</a>}>
        <Answer query={query}>
          {(total) => (
            <Total
              total={total}
              costName="Earned"
              detail={total.requests === 0n && <a href="/first-run">Make the first one</a>}
            />
          )}
        </Answer>
      </Section>
      <Section title="Newest receipts">
        <ReceiptList filter={{}} pageSize={8} version={query.data?.requests} />
      </Section>
    </>
  );
}

async function loadToday(signal: AbortSignal): Promise<Sum> {
  const now = Math.floor(Date.now() / 1000);
  const sums: Sum[] = [];
  const request = { groupBy: [UsageGroup.DAY], from: { seconds: BigInt(now - (now % daySeconds)) } };
  for await (const piece of metering.streamUsage(request, { signal })) {
    sums.push(...piece.rows.map(toSum));
  }
  return addUp(sums);
}
