import type { Webhook } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { say } from "../../../app/said.tsx";
import { webhooks } from "../../../contract/clients.ts";
import { ActionButton } from "../../../parts/forms/action-button.tsx";

interface Props {
  readonly webhook: Webhook;
  /** Opens its deliveries. */
  readonly onOpen: () => void;
  readonly onDelete: () => void;
  readonly onChanged: () => void;
}

/** What is done with an endpoint. */
export function WebhookActions({ webhook, onOpen, onDelete, onChanged }: Props) {
  const { id, pausedAt } = webhook;
  const test = async (): Promise<void> => {
    await webhooks.sendTestEvent({ webhookId: id });
    onOpen();
    onChanged();
    say("A test event is on its way.");
  };
  const toggle = async (): Promise<void> => {
    await (pausedAt === undefined
      ? webhooks.pauseWebhook({ webhookId: id })
      : webhooks.resumeWebhook({ webhookId: id }));
    onChanged();
    say(pausedAt === undefined ? "The endpoint is paused: its events wait." : "The endpoint gets its events again.");
  };
  return (
    <div class="actions">
      <ActionButton isSmall act={test}>
        Send a test
      </ActionButton>
      <button type="button" class="small-button" onClick={onOpen}>
        Deliveries
      </button>
      <ActionButton isSmall act={toggle}>
        {pausedAt === undefined ? "Pause" : "Resume"}
      </ActionButton>
      <button type="button" class="small-button" onClick={onDelete}>
        Delete
      </button>
    </div>
  );
}
