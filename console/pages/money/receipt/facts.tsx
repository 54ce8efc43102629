import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { isCustomer } from "../../../app/session.ts";
import { formatMs, toMs } from "../../../format/time.ts";
import { Facts } from "../../../parts/figures/facts.tsx";
import { Named } from "../../../parts/figures/name.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import { nameOfSurface } from "../../../parts/requests/surfaces.ts";
import type { Known } from "./known.ts";

const endings: Readonly<Record<string, string>> = {
  stop: "by itself",
  length: "at its longest allowed length",
  tool_calls: "with tool calls",
  content_filter: "by the engine's content filter",
};

/** All other facts about the request. */
export function RequestFacts({ receipt, known }: { readonly receipt: Receipt; readonly known: Known }) {
  const { firstToken, duration, settledAt, finishReason, accountId, keyId, server, surface, streamed } = receipt;
  const path = isCustomer.value ? undefined : `/accounts/${accountId}`;
  const facts = [
    { name: "Model", value: <a href={`/models/${receipt.model}`}>{receipt.model}</a> },
    { name: "Account", value: <Named id={accountId} name={known.account} what="account" path={path} /> },
    { name: "Key", value: keyId === "" ? "A service token" : <Named id={keyId} name={known.key} what="key" /> },
    { name: "API", value: `${nameOfSurface(surface)}${streamed ? ", streamed" : ""}` },
    { name: "First token", value: firstToken && `after ${formatMs(toMs(firstToken))}` },
    {
      name: "End of the answer",
      value: duration && `after ${formatMs(toMs(duration))}, ${endings[finishReason] ?? "cut off"}`,
    },
    ...Object.entries(receipt.labels).map(([label, value]) => ({ name: `Label ${label}`, value })),
    { name: "Charged", value: <Time at={settledAt} /> },
    { name: "Kept", value: receipt.archived && "In the archive of its day" },
    { name: "Server", value: server },
    { name: "Run id", value: <code>{receipt.runId}</code> },
  ];
  return (
    <Section title="The request">
      <Facts facts={facts} />
    </Section>
  );
}
