import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListRequestsRequestSchema, Request } from "#gen/tollgate/metering/v1/request_pb.js";
import { isCustomer } from "../../../app/session.ts";
import { metering } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { loadAccountNames } from "../../../parts/account/account-names.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { CsvButton } from "../../../parts/files/csv.tsx";
import { readFilters } from "../../../parts/forms/filters.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { RequestFilterForm } from "./filter-form.tsx";
import { filterNames, toRequest } from "./filters.ts";
import { RequestTable, type Row } from "./request-table.tsx";

const pageSize = 50;
/** The answers without a request after which the reader is asked whether to look further back. */
const mostAsked = 10;
/** The most rows of a download: more belong into `tollgate export`. */
const mostExported = 10_000;

/** Finished and refused requests together: why was it refused? */
export default function RequestsPage() {
  const filters = readFilters(filterNames);
  const asked = toRequest(filters);
  const isNamed = !isCustomer.value && asked.accountId === "";
  const pages = usePages<Row>(async (pageToken, signal) => {
    const answer = await findSome({ ...asked, pageToken, pageSize }, signal);
    const ids = isNamed ? answer.requests.map(({ accountId }) => accountId) : [];
    const names = await loadAccountNames(ids, signal);
    const rows = answer.requests.map((request) => ({ request, account: names.get(request.accountId) ?? "" }));
    return { rows, next: answer.nextPageToken };
  }, Object.values(filters));
  return (
    <Page
      title="Requests"
      lead="Finished and refused requests, newest first. A row opens the receipt, or the reason and what to do."
      actions={<CsvButton name="requests" load={(signal) => loadLines(asked, signal)} />}
    >
      <RequestFilterForm filters={filters} />
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={pages.hasMore ? "No request is like that so far" : "No request is like that"}>
              Take a filter away, or send one from the <a href="/playground">playground</a>.
            </Empty>
          ) : (
            <RequestTable rows={rows} isNamed={isNamed} />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "request")} />
    </Page>
  );
}

/** Asks further back while nothing is found, for a moment: where few requests are like that, most answers have none. */
async function findSome(asked: MessageInitShape<typeof ListRequestsRequestSchema>, signal: AbortSignal) {
  let answer = await metering.listRequests(asked, { signal });
  for (let times = 1; times < mostAsked && answer.requests.length === 0 && answer.nextPageToken !== ""; times += 1) {
    answer = await metering.listRequests({ ...asked, pageToken: answer.nextPageToken }, { signal });
  }
  return answer;
}

const columns = [
  ...["request_id", "account_id", "key_id", "surface", "model", "reason", "http_status", "duration_ms", "server", "at"],
];

async function loadLines(asked: ReturnType<typeof toRequest>, signal: AbortSignal) {
  const all: Request[] = [];
  for (let pageToken = ""; ; ) {
    const answer = await metering.listRequests({ ...asked, pageToken, pageSize: 1000 }, { signal });
    all.push(...answer.requests);
    pageToken = answer.nextPageToken;
    if (pageToken === "" || all.length >= mostExported) {
      return [columns, ...all.map(toLine)];
    }
  }
}

function toLine({ requestId, accountId, keyId, surface, model, reason, httpStatus, durationMs, server, at }: Request) {
  const time = at === undefined ? "" : new Date(Number(at.seconds) * 1000 + at.nanos / 1e6).toISOString();
  return [requestId, accountId, keyId, surface, model, reason, String(httpStatus), durationMs, server, time];
}
