import type { Command } from "commander";
import type { Io } from "./shared/io.ts";

/** Adds a command to the program. */
type Add = (program: Command, io: Io) => void;
type Loaders = Readonly<Record<string, () => Promise<Add>>>;

/** Commands that people look for together. */
interface CommandGroup {
  readonly title: string;
  readonly examples: readonly [string, string];
  /** By the first word, in the order of the help. */
  readonly commands: Loaders;
}

/** All commands as the help shows them. A command is loaded when it is run; only the help loads all. */
export const commandGroups: readonly CommandGroup[] = [
  {
    title: "Run",
    examples: ["tollgate serve --server http://127.0.0.1:8000", "tollgate check --config tollgate.yaml"],
    commands: {
      serve: async () => (await import("./serve/serve.ts")).addServe,
      core: async () => (await import("./serve/core.ts")).addCore,
      facade: async () => (await import("./serve/facade.ts")).addFacade,
      docs: async () => (await import("./serve/docs.ts")).addDocs,
      sim: async () => (await import("./sim/sim.ts")).addSim,
      init: async () => (await import("./init/command.ts")).addInit,
      check: async () => (await import("./check/command.ts")).addCheck,
      config: async () => (await import("./shared/config.ts")).addConfig,
      health: async () => (await import("./check/health.ts")).addHealth,
    },
  },
  {
    title: "Money",
    examples: [
      "tollgate accounts top-up ACCOUNT --usd 25 --ref invoice-17",
      "tollgate usage --from 2026-01-01 --by model,day",
    ],
    commands: {
      accounts: async () => (await import("./admin/money/accounts.ts")).addAccounts,
      payments: async () => (await import("./admin/money/payments.ts")).addPayments,
      keys: async () => (await import("./admin/money/keys/keys.ts")).addKeys,
      prices: async () => (await import("./admin/money/prices.ts")).addPrices,
      usage: async () => (await import("./admin/money/usage.ts")).addUsage,
      margin: async () => (await import("./admin/money/margin.ts")).addMargin,
      receipt: async () => (await import("./admin/money/receipt.ts")).addReceipt,
      receipts: async () => (await import("./admin/money/receipt.ts")).addReceipts,
      statement: async () => (await import("./admin/money/statement.ts")).addStatement,
      verify: async () => (await import("./check/verify.ts")).addVerify,
      charges: async () => (await import("./admin/money/charges.ts")).addCharges,
      reconcile: async () => (await import("./admin/money/reconcile.ts")).addReconcile,
    },
  },
  {
    title: "Fleet",
    examples: ["tollgate status", "tollgate requests --outcome refused --limit 20"],
    commands: {
      status: async () => (await import("./admin/fleet/status.ts")).addStatus,
      servers: async () => (await import("./admin/fleet/servers.ts")).addServers,
      requests: async () => (await import("./admin/fleet/requests.ts")).addRequests,
      find: async () => (await import("./admin/fleet/find.ts")).addFind,
      reload: async () => (await import("./admin/fleet/reload.ts")).addReload,
    },
  },
  {
    title: "Operate",
    examples: ["tollgate backup tollgate.backup --config tollgate.yaml", "tollgate audit list --limit 20"],
    commands: {
      operators: async () => (await import("./admin/operate/operators.ts")).addOperators,
      "console-link": async () => (await import("./admin/operate/console-link.ts")).addConsoleLink,
      sessions: async () => (await import("./admin/operate/sessions.ts")).addSessions,
      audit: async () => (await import("./admin/operate/audit.ts")).addAudit,
      webhooks: async () => (await import("./admin/operate/webhooks.ts")).addWebhooks,
      events: async () => (await import("./admin/operate/events.ts")).addEvents,
      export: async () => (await import("./admin/money/export/export.ts")).addExport,
      archives: async () => (await import("./admin/operate/archives.ts")).addArchives,
      backup: async () => (await import("./backup/command.ts")).addBackup,
      restore: async () => (await import("./backup/command.ts")).addRestore,
      "migrate-storage": async () => (await import("./migrate/command.ts")).addMigrateStorage,
    },
  },
];

/** The lines of the help that show how the commands of each group are used. */
export function showExamples(): string {
  const lines = commandGroups.flatMap(({ title, examples }) => [
    `  ${title}`,
    ...examples.map((line) => `    ${line}`),
  ]);
  return ["", "Examples:", ...lines].join("\n");
}
