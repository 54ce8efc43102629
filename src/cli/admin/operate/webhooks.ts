import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { WebhooksService } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import { count, span, words } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { deliveryDocument, webhookDocument } from "../output/event-documents.ts";
import { required } from "../required.ts";

const shownOnce = "The secret is shown only now.";

/** `tollgate webhooks …` */
export function addWebhooks(program: Command, io: Io): void {
  const group = program.command("webhooks").description("endpoints that are told of events");
  const client = (core: Transport) => createClient(WebhooksService, core);

  addQuestion<[], { url: string; events: string[] }>(group, "create", io, {
    description: "tell an endpoint of events, and show its secret, the only time",
    options: (command) =>
      command
        .requiredOption("--url <url>", "where events are sent")
        .requiredOption("--events <types>", "types of events with commas between; `events types` lists them", words),
    ask: async (core, { url, events }) => {
      const made = await client(core).createWebhook({ url, events });
      return { id: required(made.webhook).id, secret: made.secret };
    },
    note: shownOnce,
  });
  addQuestion<[], object>(group, "list", io, {
    description: "list endpoints",
    ask: async (core) =>
      (
        await readAll(
          (page) => client(core).listWebhooks(page),
          ({ webhooks }) => webhooks,
        )
      ).map(webhookDocument),
  });
  addQuestion<[string], { overlap: number }>(group, "rotate-secret <webhook>", io, {
    description: "make a new secret for an endpoint and show it, the only time",
    options: (command) =>
      command.addOption(
        new Option("--overlap <span>", "how long the old secret signs beside it, such as 90m")
          .argParser(span)
          .default(span("24h"), "24h"),
      ),
    ask: async (core, { overlap }, webhookId) => {
      const made = await client(core).rotateWebhookSecret({ webhookId, overlap: durationFromMs(overlap) });
      return { id: required(made.webhook).id, secret: made.secret };
    },
    note: shownOnce,
  });
  addQuestion<[string], object>(group, "delete <webhook>", io, {
    description: "tell an endpoint nothing more; undelivered events are dropped",
    ask: async (core, _, webhookId) =>
      webhookDocument(required((await client(core).deleteWebhook({ webhookId })).webhook)),
  });
  addQuestion<[string], object>(group, "pause <webhook>", io, {
    description: "let an endpoint's events wait, for 30 days at most",
    ask: async (core, _, webhookId) =>
      webhookDocument(required((await client(core).pauseWebhook({ webhookId })).webhook)),
  });
  addQuestion<[string], object>(group, "resume <webhook>", io, {
    description: "go on with the events of a paused endpoint",
    ask: async (core, _, webhookId) =>
      webhookDocument(required((await client(core).resumeWebhook({ webhookId })).webhook)),
  });
  addQuestion<[string], object>(group, "test <webhook>", io, {
    description: "send an event of type webhook.test to an endpoint",
    ask: async (core, _, webhookId) =>
      deliveryDocument(required((await client(core).sendTestEvent({ webhookId })).delivery)),
  });
  addQuestion<[string, string], object>(group, "redeliver <webhook> <delivery>", io, {
    description: "send an event to an endpoint again, by the id that `webhooks deliveries` shows",
    ask: async (core, _, webhookId, deliveryId) =>
      deliveryDocument(required((await client(core).redeliver({ webhookId, deliveryId })).delivery)),
  });
  addQuestion<[string], { limit: number }>(group, "deliveries <webhook>", io, {
    description: "list an endpoint's deliveries, newest event first",
    options: (command) => command.option("--limit <n>", "the most deliveries", count, 100),
    ask: async (core, { limit }, webhookId) =>
      (
        await readAll(
          (page) => client(core).listDeliveries({ webhookId, ...page }),
          ({ deliveries }) => deliveries,
          limit,
        )
      ).map(deliveryDocument),
  });
}
