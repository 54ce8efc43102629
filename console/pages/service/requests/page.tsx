import type { Request } from "#gen/tollgate/metering/v1/request_pb.js";
import { isCustomer } from "../../../app/session.ts";
import { metering } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { loadAccountNames } from "../../../parts/account/account-names.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { lookBack } from "../../../parts/calls/look-back.ts";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { CsvButton } from "../../../parts/files/csv.tsx";
import { readFilters } from "../../../parts/forms/filters.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { RequestFilterForm } from "./filter-form.tsx";
import { filterNames, toRequest } from "./filters.ts";
import { RequestTable, type Row } from "./request-table.tsx";

const pageSize = 50;
/** The most rows of a download: more belong into `tollgate export`. */
const mostExported = 10_000;

/** Finished and refused requests together: why was it refused? */
export default function RequestsPage() {
  const filters = readFilters(filterNames);
  const asked = toRequest(filters);
  const isNamed = !isCustomer.value && asked.accountId === "";
  const pages = usePages<Row>(async (pageToken, signal) => {
    const answer = await lookBack(
      pageToken,
      (token) => metering.listRequests({ ...asked, pageToken: token, pageSize }, { signal }),
      ({ requests }) => requests.length === 0,
    );
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
