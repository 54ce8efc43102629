import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { GetPublicStatusResponse, Trouble } from "#gen/tollgate/status/v1/status_service_pb.js";
import { escapeHtml } from "./escape-html.ts";
import { mark, style } from "./page.ts";

type Shown = Pick<GetPublicStatusResponse, "ok"> & { readonly red: readonly Trouble[] };

/** What everybody may know of the service's state, as JSON. */
export function toStatusJson({ ok, red }: Shown): string {
  const troubles = red.map(({ what, model, reason, since }) => ({
    what,
    ...(model !== "" && { model }),
    reason,
    since: toText(since),
  }));
  return JSON.stringify({ ok, red: troubles });
}

/** The same as a page. */
export function renderStatus({ ok, red }: Shown): string {
  const rows = red.map(
    ({ model, reason, since }) =>
      `<tr><td>${escapeHtml(model || "All models")}</td><td>${escapeHtml(reason)}</td><td>${toText(since)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Status · Tollgate</title>
<style>${style}</style>
</head>
<body>
<header><span class="brand">${mark}Tollgate</span></header>
<h1>${ok ? "All is well." : "Something is wrong."}</h1>
${ok ? "<p>Every model has a server, and requests are taken.</p>" : table(rows)}
</body>
</html>
`;
}

function table(rows: readonly string[]): string {
  return `<div class="wide" tabindex="0"><table>
<tr><th scope="col">Model</th><th scope="col">What</th><th scope="col">Since</th></tr>
${rows.join("\n")}
</table></div>`;
}

function toText(since: Trouble["since"]): string {
  return since === undefined ? "" : timestampDate(since).toISOString();
}
