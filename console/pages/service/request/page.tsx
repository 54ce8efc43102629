import type { Request } from "#gen/tollgate/metering/v1/request_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { findReasonText } from "../../../../lib/errors/reason-texts.ts";
import type { PageProps } from "../../../app/page-props.ts";
import { isCustomer } from "../../../app/session.ts";
import { metering } from "../../../contract/clients.ts";
import { formatMs } from "../../../format/time.ts";
import { loadAccountNames } from "../../../parts/account/account-names.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Amount } from "../../../parts/figures/amount.tsx";
import { CopyButton } from "../../../parts/figures/copy.tsx";
import { Facts } from "../../../parts/figures/facts.tsx";
import { Named } from "../../../parts/figures/name.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { loadKeyNames } from "../../../parts/keys/key-names.ts";
import { Outcome } from "../../../parts/requests/outcome.tsx";
import { nameOfSurface } from "../../../parts/requests/surfaces.ts";

/** What became of one request: why it was refused and what to do, or its receipt. */
export default function RequestPage({ id }: PageProps) {
  const query = useQuery((signal) => load(id, signal), [id]);
  return (
    <Page
      title="Request"
      parent={{ name: "Requests", path: "/requests" }}
      lead={
        <span class="with-copy">
          <code class="wrap-anywhere">{id}</code>
          <CopyButton text={id} what="the request's id" />
        </span>
      }
    >
      <Answer query={query}>
        {({ requests, names, receipt }) =>
          requests.length === 0 ? (
            <Empty title="Nothing is known of this request">
              Compare the id with the x-request-id of the response. Refused requests are recorded for some days.
            </Empty>
          ) : (
            requests.map((request) => (
              <Ended
                key={`${request.at?.seconds} ${request.reason}`}
                request={request}
                names={names}
                receipt={receipt}
              />
            ))
          )
        }
      </Answer>
    </Page>
  );
}

/** The request, the names of its accounts and keys by their ids, and what was charged although it failed. */
async function load(requestId: string, signal: AbortSignal) {
  const { requests } = await metering.listRequests({ requestId, pageSize: 20 }, { signal });
  const hasFailed = requests.some(({ reason }) => reason !== "");
  const [accounts, keys, charged] = await Promise.all([
    loadAccountNames(
      requests.map(({ accountId }) => accountId),
      signal,
    ),
    loadKeyNames(
      requests.map(({ keyId }) => keyId),
      signal,
    ),
    hasFailed ? metering.getReceipt({ requestId }, { signal }).catch(() => undefined) : undefined,
  ]);
  return { requests, names: new Map([...accounts, ...keys]), receipt: charged?.receipt };
}

interface Props {
  readonly request: Request;
  readonly names: ReadonlyMap<string, string>;
  /** Absent: nothing was charged, or the request finished. */
  readonly receipt: Receipt | undefined;
}

function Ended({ request, names, receipt }: Props) {
  const { requestId, reason } = request;
  const text = findReasonText(reason);
  return (
    <>
      {text ? (
        <div class="notice bad">
          <p>
            <Outcome request={request} /> <strong>{text.what}</strong> {text.advice}
          </p>
        </div>
      ) : (
        <p>
          It finished: <a href={`/receipts/${requestId}`}>its receipt</a>.
        </p>
      )}
      <RequestFacts request={request} names={names} receipt={receipt} />
    </>
  );
}

function RequestFacts({
  request: { accountId, keyId, model, surface, server, httpStatus, durationMs, at, leftOut },
  names,
  receipt,
}: Props) {
  const nameOf = (id: string) => names.get(id) ?? "";
  const path = isCustomer.value ? undefined : `/accounts/${accountId}`;
  const facts = [
    { name: "When", value: <Time at={at} /> },
    { name: "Status", value: httpStatus === 0 ? "none: it came over gRPC" : String(httpStatus) },
    { name: "Took", value: formatMs(Number(durationMs)) },
    { name: "API", value: nameOfSurface(surface) },
    { name: "Model", value: model },
    { name: "Server", value: server },
    {
      name: "Account",
      value: accountId && <Named id={accountId} name={nameOf(accountId)} what="account" path={path} />,
    },
    { name: "Key", value: keyId && <Named id={keyId} name={nameOf(keyId)} what="key" /> },
    {
      name: "Charged",
      value: receipt && (
        <a href={`/receipts/${receipt.requestId}`}>
          <Amount pico={receipt.costPicoUsd} />
        </a>
      ),
    },
    { name: "Left out", value: leftOut > 0n && `${leftOut} like it, shortly before` },
  ];
  return <Facts facts={facts} />;
}
