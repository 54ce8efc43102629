import type { Delivery, Webhook } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { say } from "../../../app/said.tsx";
import { webhooks } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { Badge, type Tone } from "../../../parts/figures/badge.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { ActionButton } from "../../../parts/forms/action-button.tsx";

interface Props {
  readonly webhook: Webhook;
  /** A change of it loads the list again. */
  readonly version: number;
  readonly onClose: () => void;
}

const tones: Readonly<Record<string, Tone>> = { delivered: "good", pending: "plain", failed: "bad" };

/** What was sent to an endpoint, newest first, and what became of it. */
export function Deliveries({ webhook, version, onClose }: Props) {
  const pages = usePages<Delivery>(
    async (pageToken, signal) => {
      const answer = await webhooks.listDeliveries({ webhookId: webhook.id, pageToken, pageSize: 20 }, { signal });
      return { rows: answer.deliveries, next: answer.nextPageToken };
    },
    [webhook.id],
    version,
  );
  const redeliver = async ({ id }: Delivery): Promise<void> => {
    await webhooks.redeliver({ webhookId: webhook.id, deliveryId: id });
    pages.reload();
    say("The event is sent again.");
  };
  return (
    <div class="stack below-note">
      <div class="section-head">
        <h3>
          Deliveries to <Clip text={webhook.url} />
        </h3>
        <div class="actions">
          <button type="button" class="small-button" onClick={pages.reload}>
            Look again
          </button>
          <button type="button" class="small-button" onClick={onClose}>
            Close
          </button>
        </div>
      </div>
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="Nothing was sent to it yet" />
          ) : (
            <Table
              caption="Deliveries"
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                { name: "Event", isHeader: true, show: ({ type }) => <code>{type}</code> },
                { name: "Happened", isNumber: true, show: ({ createdAt }) => <Time at={createdAt} /> },
                { name: "State", show: ({ status }) => <Badge tone={tones[status] ?? "plain"}>{status}</Badge> },
                { name: "Attempts", isNumber: true, show: ({ attempts }) => attempts },
                {
                  name: "Answer",
                  isOptional: true,
                  show: (row) => <Clip text={row.error || String(row.responseStatus ?? "–")} />,
                },
                {
                  name: "Actions",
                  isNameHidden: true,
                  isNumber: true,
                  show: (row) => (
                    <ActionButton isSmall act={() => redeliver(row)}>
                      {row.status === "pending" ? "Send now" : "Send again"}
                    </ActionButton>
                  ),
                },
              ]}
            />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "delivery", "deliveries")} />
    </div>
  );
}
