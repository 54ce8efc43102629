import type { Command } from "commander";
import type { Io } from "./shared/io.ts";

/** Adds a command to the program. */
type Add = (program: Command, io: Io) => void;

/**
 * Every command by its first word, in the order of the help. A command is loaded when it is run; only the help loads
 * all.
 */
export const commands: Readonly<Record<string, () => Promise<Add>>> = {
  serve: async () => (await import("./serve/serve.ts")).addServe,
  core: async () => (await import("./serve/core.ts")).addCore,
  facade: async () => (await import("./serve/facade.ts")).addFacade,
  docs: async () => (await import("./serve/docs.ts")).addDocs,
  sim: async () => (await import("./sim/sim.ts")).addSim,
  check: async () => (await import("./check/command.ts")).addCheck,
  health: async () => (await import("./check/health.ts")).addHealth,
  config: async () => (await import("./shared/config.ts")).addConfig,
  accounts: async () => (await import("./admin/accounts.ts")).addAccounts,
  payments: async () => (await import("./admin/accounts.ts")).addPayments,
  keys: async () => (await import("./admin/keys/keys.ts")).addKeys,
  prices: async () => (await import("./admin/prices.ts")).addPrices,
  usage: async () => (await import("./admin/usage.ts")).addUsage,
  margin: async () => (await import("./admin/margin.ts")).addMargin,
  receipt: async () => (await import("./admin/receipt.ts")).addReceipt,
  receipts: async () => (await import("./admin/receipt.ts")).addReceipts,
  requests: async () => (await import("./admin/requests.ts")).addRequests,
  export: async () => (await import("./admin/export/export.ts")).addExport,
  archives: async () => (await import("./admin/archives.ts")).addArchives,
  charges: async () => (await import("./admin/charges.ts")).addCharges,
  reconcile: async () => (await import("./admin/reconcile.ts")).addReconcile,
  status: async () => (await import("./admin/status.ts")).addStatus,
  servers: async () => (await import("./admin/servers.ts")).addServers,
  operators: async () => (await import("./admin/operators.ts")).addOperators,
  "console-link": async () => (await import("./admin/console-link.ts")).addConsoleLink,
  sessions: async () => (await import("./admin/sessions.ts")).addSessions,
  audit: async () => (await import("./admin/audit.ts")).addAudit,
  webhooks: async () => (await import("./admin/events/webhooks.ts")).addWebhooks,
  events: async () => (await import("./admin/events/events.ts")).addEvents,
  "migrate-storage": async () => (await import("./migrate/command.ts")).addMigrateStorage,
};
