import type { Webhook } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { mayOwn } from "../../app/session.ts";
import { webhooks } from "../../contract/clients.ts";
import { countOf } from "../../format/numbers.ts";
import { Answer, Empty } from "../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../parts/calls/more-rows.tsx";
import { Clip } from "../../parts/figures/clip.tsx";
import { Table } from "../../parts/figures/table.tsx";
import { Time } from "../../parts/figures/time.tsx";

/** The endpoints that receive events. Only owners may see them. */
export function Webhooks() {
  return mayOwn.value ? <WebhookList /> : <p class="muted">Owners see them.</p>;
}

function WebhookList() {
  const pages = usePages<Webhook>(async (pageToken, signal) => {
    const answer = await webhooks.listWebhooks({ pageToken, pageSize: 100 }, { signal });
    return { rows: answer.webhooks, next: answer.nextPageToken };
  }, []);
  return (
    <>
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="Nobody is told of events">
              <code>tollgate webhooks create --url URL</code> subscribes an endpoint.
            </Empty>
          ) : (
            <Table
              caption="Webhooks"
              rows={rows}
              keyOf={(webhook) => webhook.id}
              columns={[
                {
                  name: "Endpoint",
                  isHeader: true,
                  show: (webhook) => (
                    <code>
                      <Clip text={webhook.url} />
                    </code>
                  ),
                },
                { name: "Events", show: (webhook) => <Clip text={webhook.events.join(", ")} /> },
                {
                  name: "Created",
                  isNumber: true,
                  isOptional: true,
                  show: (webhook) => <Time at={webhook.createdAt} />,
                },
              ]}
            />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "endpoint")} />
    </>
  );
}
