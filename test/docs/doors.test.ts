import { readdirSync, readFileSync } from "node:fs";
import type { DescMessage, DescService } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import type { Command } from "commander";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { WebhooksService } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { MarginService } from "#gen/tollgate/metering/v1/margin_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { PaymentsService } from "#gen/tollgate/payments/v1/payments_service_pb.js";
import { PeopleService } from "#gen/tollgate/people/v1/people_service_pb.js";
import { createProgram } from "#src/cli/program.ts";
import { configJsonSchema } from "#src/config/json-schema.ts";
import { limitNames } from "#src/wire/interceptors/observation/refused-limit.ts";
import { answers } from "../../scripts/docs/answers.ts";
import { doors } from "./doors/doors.ts";

// Every limit, every view of usage and everything that goes out can be reached through all doors that it is to have.

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

/** The services whose every method is a door of something in the table. */
const whole = [
  AccountsService,
  AuditService,
  BooksService,
  EventsService,
  MarginService,
  OperatorsService,
  PaymentsService,
  PeopleService,
  WebhooksService,
];
const services = new Map<string, DescService>(
  [...whole, MeteringService, CatalogueService, InferenceService, EmbeddingsService].map((service) => [
    service.name,
    service,
  ]),
);

function hasPath(message: DescMessage | undefined, path: string): boolean {
  const [name, ...rest] = path.split(".");
  const field = message?.fields.find((one) => one.name === name);
  return field !== undefined && (rest.length === 0 || hasPath(field.message, rest.join(".")));
}

function isInContract(cell: string): boolean {
  const [, service = "", name, arrow, path] = /^(\w+)\.(\w+)(?: (>)? ?([\w.]+))?$/.exec(cell) ?? [];
  const method = services.get(service)?.methods.find((one) => one.name === name);
  return method !== undefined && (path === undefined || hasPath(arrow ? method.output : method.input, path));
}

const program = await createProgram({ environment: {}, print: () => {}, note: () => {}, progress: () => {} });

function isCommand(cell: string): boolean {
  const [, words = "", option, path] = /^([a-z -]+?)(?: (--[a-z-]+)| > ([\w.]+))?$/.exec(cell) ?? [];
  const command = words
    .split(" ")
    .reduce<Command | undefined>((one, word) => one?.commands.find((next) => next.name() === word), program);
  return (
    command !== undefined &&
    (option === undefined || command.options.some(({ long }) => long === option)) &&
    (path === undefined || isPrinted(answers[words], path))
  );
}

function isPrinted(answer: unknown, path: string): boolean {
  const [name = "", ...rest] = path.split(".");
  const fields = (Array.isArray(answer) ? answer[0] : answer) as Record<string, unknown> | undefined;
  return fields !== undefined && name in fields && (rest.length === 0 || isPrinted(fields[name], rest.join(".")));
}

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

const openapi = JSON.parse(read("gen/openapi.json"));

function hasProperty(schema: Schema | undefined, path: readonly string[]): boolean {
  if (schema?.$ref !== undefined) {
    return hasProperty(openapi.components.schemas[schema.$ref.slice("#/components/schemas/".length)], path);
  }
  const [name = "", ...rest] = path;
  const below = [schema?.items, ...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])];
  const inner = schema?.properties?.[name];
  return (
    path.length === 0 ||
    (inner !== undefined && hasProperty(inner, rest)) ||
    below.some((one) => one !== undefined && hasProperty(one, path))
  );
}

function isDescribed(cell: string): boolean {
  const [, verb = "", path = "", status, field] =
    /^(GET|POST|PATCH|DELETE) (\S+)(?: (\d+)| > ([\w.]+))$/.exec(cell) ?? [];
  const responses = openapi.paths[path]?.[verb.toLowerCase()]?.responses;
  return status === undefined
    ? Object.values<{ schema: Schema }>((responses?.[200] ?? responses?.[201])?.content ?? {}).some(({ schema }) =>
        hasProperty(schema, (field ?? "?").split(".")),
      )
    : responses?.[status] !== undefined;
}

// What a running service exports is what this page lists: test/telemetry/operations.test.ts.
const metrics = new Set(
  Array.from(read("docs/observability.md").matchAll(/^\| `(tollgate_\w+)`/gm), ([, name]) => name),
);
const isMetric = (cell: string) => {
  const [name, limit] = cell.split(" ");
  return metrics.has(name) && (limit === undefined || limitNames.some((one) => one === limit));
};

const { panels } = JSON.parse(read("deploy/grafana/tollgate.json")) as {
  panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
};
const findPanels = (titles: readonly string[]) =>
  panels.filter(({ title }) => titles.some((one) => title.startsWith(one)));

function isConfigured(cell: string, schema: Schema = configJsonSchema() as Schema): boolean {
  return hasProperty(schema, cell.split("."));
}

const isHeading = (cell: string) => {
  const [page, ...heading] = cell.split(": ");
  return new RegExp(`^#+ ${heading.join(": ")}$`, "m").test(read(`docs/${page}`));
};
const consolePages = readdirSync(new URL("console/pages", root)).flatMap((group) =>
  readdirSync(new URL(`console/pages/${group}`, root)),
);
const isPage = (cell: string) => consolePages.includes(cell);

/** What is named in these doors and is not there. A door that is absent has to say why. */
function listMissing(cells: readonly string[] | string | undefined, isThere: (cell: string) => boolean): string[] {
  if (typeof cells === "string") {
    return /^- \w+ /.test(cells) ? [] : [cells];
  }
  return (cells ?? []).filter((cell) => !isThere(cell));
}

test.each(Object.entries(doors))("%s is behind each of its doors", (_, row) => {
  expect({
    contract: listMissing(row.contract, isInContract),
    cli: listMissing(row.cli, isCommand),
    openapi: listMissing(row.openapi, isDescribed),
    metrics: listMissing(row.metrics, isMetric),
    dashboard: listMissing(row.dashboard, (title) => findPanels([title]).length > 0),
    config: listMissing(row.config, isConfigured),
    docs: listMissing(row.docs, isHeading),
    console: listMissing(row.console, isPage),
  }).toEqual({ contract: [], cli: [], openapi: [], metrics: [], dashboard: [], config: [], docs: [], console: [] });
});

test.each(
  Object.entries(doors).filter(
    ([, { metrics, dashboard }]) => typeof metrics !== "string" && typeof dashboard !== "string",
  ),
)("the panels of %s show its metrics", (_, { metrics, dashboard }) => {
  const shown = findPanels(dashboard as string[]).flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr));
  const names = (metrics as string[]).map((cell) => cell.split(" ", 1)[0] ?? "");
  expect(names.filter((name) => !shown.some((expr) => new RegExp(`\\b${name}(_bucket)?\\b`).test(expr)))).toEqual([]);
});

const contract = new Set(
  Object.values(doors).flatMap(({ contract }) => (typeof contract === "string" ? [] : contract)),
);

test("every method is a door of something", () => {
  const methods = whole.flatMap((service) => service.methods.map(({ name }) => `${service.name}.${name}`));
  const named = new Set(Array.from(contract, (cell) => cell.split(" ", 1)[0]));
  expect(methods.filter((method) => !named.has(method))).toEqual([]);
});

test("every limit that a key or an account can be given is in the table", () => {
  const { updateKey, updateAccount } = AccountsService.method;
  const changes = [updateKey, updateAccount].flatMap(({ name, input }) =>
    input.fields
      .filter((field) => !["key_id", "account_id", "update_mask"].includes(field.name))
      .flatMap((field) => field.message?.fields.map((inner) => `${field.name}.${inner.name}`) ?? [field.name])
      .map((path) => `AccountsService.${name} ${path}`),
  );
  expect(changes.filter((change) => !contract.has(change))).toEqual([]);
});

test("every option that sets one is in the table, and so is every limit that refuses", () => {
  const named = new Set(Object.values(doors).flatMap(({ cli }) => (typeof cli === "string" ? [] : cli)));
  const common = new Set(["--core", "--insecure", "--json", "--wide", "--ca", "--cert", "--cert-key"]);
  const options = ["keys", "accounts"].flatMap((group) => {
    const setter = program.commands
      .find((one) => one.name() === group)
      ?.commands.find((one) => one.name() === "set-limits");
    return (setter?.options ?? [])
      .map(({ long }) => long ?? "")
      .filter((long) => !common.has(long))
      .map((long) => `${group} set-limits ${long}`);
  });
  expect(options.length).toBeGreaterThan(5);
  expect(options.filter((option) => !named.has(option))).toEqual([]);
  const refusing = new Set(Object.values(doors).flatMap(({ metrics }) => (typeof metrics === "string" ? [] : metrics)));
  expect(limitNames.filter((limit) => !refusing.has(`tollgate_limit_refusals_total ${limit}`))).toEqual([]);
});
