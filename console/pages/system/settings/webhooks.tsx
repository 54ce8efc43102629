import { useState } from "preact/hooks";
import type { Webhook } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { say } from "../../../app/said.tsx";
import { mayOwn } from "../../../app/session.ts";
import { webhooks } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { Badge } from "../../../parts/figures/badge.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { Confirm } from "./confirm.tsx";
import { Deliveries } from "./deliveries.tsx";
import { WebhookActions } from "./webhook-actions.tsx";

/** The endpoints that receive events. Only owners may see them. */
export function Webhooks() {
  return mayOwn.value ? <WebhookList /> : <p class="muted">Owners see them.</p>;
}

function WebhookList() {
  const [opened, setOpened] = useState<Webhook | undefined>(undefined);
  const [deleted, setDeleted] = useState<Webhook | undefined>(undefined);
  const [version, setVersion] = useState(0);
  const pages = usePages<Webhook>(
    async (pageToken, signal) => {
      const answer = await webhooks.listWebhooks({ pageToken, pageSize: 100 }, { signal });
      return { rows: answer.webhooks, next: answer.nextPageToken };
    },
    [],
    version,
  );
  const changed = () => setVersion((before) => before + 1);
  const remove = async ({ id }: Webhook): Promise<void> => {
    await webhooks.deleteWebhook({ webhookId: id });
    setDeleted(undefined);
    setOpened(undefined);
    changed();
    say("The endpoint gets nothing any more.");
  };
  return (
    <>
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="Nobody is told of events" />
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
                  name: "State",
                  show: ({ pausedAt }) =>
                    pausedAt === undefined ? <Badge tone="good">Active</Badge> : <Badge tone="warn">Paused</Badge>,
                },
                {
                  name: "Created",
                  isNumber: true,
                  isOptional: true,
                  show: (webhook) => <Time at={webhook.createdAt} />,
                },
                {
                  name: "Actions",
                  isNameHidden: true,
                  isNumber: true,
                  show: (webhook) => (
                    <WebhookActions
                      webhook={webhook}
                      onOpen={() => setOpened(webhook)}
                      onDelete={() => setDeleted(webhook)}
                      onChanged={changed}
                    />
                  ),
                },
              ]}
            />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "endpoint")} />
      <p class="muted small below-note">
        <code>tollgate webhooks create --url URL</code> subscribes an endpoint: a session makes no secret that would
        outlive it.
      </p>
      {opened && <Deliveries webhook={opened} version={version} onClose={() => setOpened(undefined)} />}
      {deleted && (
        <Confirm
          title="Delete the endpoint"
          verb="Delete"
          act={() => remove(deleted)}
          onClose={() => setDeleted(undefined)}
        >
          <code class="wrap-anywhere">{deleted.url}</code> gets no event any more, and what waits for it is dropped.
        </Confirm>
      )}
    </>
  );
}
