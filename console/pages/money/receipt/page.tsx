import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import type { PageProps } from "../../../app/page-props.ts";
import { metering } from "../../../contract/clients.ts";
import { Answer } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { CopyButton } from "../../../parts/figures/copy.tsx";
import { Page, Section } from "../../../parts/frame/page.tsx";
import { Charge } from "./charge.tsx";
import { RequestFacts } from "./facts.tsx";
import { Hold } from "./hold.tsx";
import { type Known, loadKnown } from "./known.ts";
import { Lines } from "./lines.tsx";

/** The cost of one request, and the lots that paid for it, to the pico-dollar. */
export default function ReceiptPage({ id }: PageProps) {
  const query = useQuery((signal) => metering.getReceipt({ requestId: id }, { signal }), [id]);
  return (
    <Page
      title="Receipt"
      parent={{ name: "Request", path: `/requests/${id}` }}
      lead={
        <span class="with-copy">
          <code class="wrap-anywhere">{id}</code>
          <CopyButton text={id} what="the request's id" />
        </span>
      }
    >
      <Answer query={query}>
        {({ receipt, furtherRuns }) => (
          <>
            {receipt && <Run receipt={receipt} />}
            {furtherRuns.map((run) => (
              <Section key={run.runId} title="A further run under the same id">
                <Run receipt={run} />
              </Section>
            ))}
          </>
        )}
      </Answer>
    </Page>
  );
}

const nothingKnown: Known = { account: "", key: "", lots: new Map() };

function Run({ receipt }: { readonly receipt: Receipt }) {
  const { data: known = nothingKnown } = useQuery((signal) => loadKnown(receipt, signal), [receipt.runId]);
  return (
    <>
      <Charge receipt={receipt} />
      <Lines receipt={receipt} lots={known.lots} />
      <Hold receipt={receipt} />
      <RequestFacts receipt={receipt} known={known} />
    </>
  );
}
