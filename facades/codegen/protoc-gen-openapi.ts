// Writes openapi.json: one path for each google.api.http method, one schema for each message.
import type { DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import { createEcmaScriptPlugin, runNodeJs, type Schema } from "@bufbuild/protoplugin";
import { type Json, readComment, Schemas } from "./openapi-schemas.ts";
import { statusPath } from "./openapi-status.ts";
import { type HttpEndpoint, hasBody, Options } from "./options.ts";

runNodeJs(
  createEcmaScriptPlugin({
    name: "protoc-gen-openapi",
    version: "v1",
    generateTs: () => {
      throw new Error("set target=js: the document is written once");
    },
    generateJs: (schema) => schema.generateFile("openapi.json").print(JSON.stringify(document(schema), null, 2)),
  }),
);

/** The option tollgate.facade.v1.http_service. */
interface HttpService {
  readonly title: string;
  readonly errorBody: string;
  readonly errors: readonly { readonly status: number; readonly description: string }[];
}

/** The option tollgate.facade.v1.http_method. */
interface HttpMethod {
  readonly public: boolean;
  readonly errors: HttpService["errors"];
  /** 0: 200. */
  readonly success: number;
  readonly lines: boolean;
}

/** One operation of a surface. */
interface Operation extends HttpEndpoint {
  readonly surface: HttpService;
  readonly errorBody: DescMessage;
  readonly isPublic: boolean;
  readonly ownErrors: HttpService["errors"];
  readonly success: number;
  /** Whether it answers with JSON lines. */
  readonly hasLines: boolean;
}

function document(schema: Schema): Json {
  const options = new Options(schema);
  const operations = schema.files
    .flatMap((file) => file.services)
    .flatMap((service) => listOperations(schema, options, service));
  const schemas = new Schemas(
    options,
    operations.map(({ method }) => method.input),
  );
  const paths = new Map<string, Map<string, Operation[]>>();
  for (const operation of operations) {
    const path = operation.rule.path.replace(/\{(\w+)=\*\*\}/g, "{$1}");
    const verbs = paths.get(path) ?? new Map<string, Operation[]>();
    paths.set(path, verbs);
    const verb = operation.rule.verb.toLowerCase();
    verbs.set(verb, [...(verbs.get(verb) ?? []), operation]);
  }
  const written = [...paths].map(([path, verbs]) => [
    path,
    Object.fromEntries([...verbs].map(([verb, shared]) => [verb, operationObject(shared, schemas)])),
  ]);
  return {
    openapi: "3.1.0",
    info: {
      title: "Tollgate",
      version: "1",
      description:
        "Open-source models on two surfaces that share keys, models and balance. In requests unknown fields are ignored and null means absent. Paths of the chat-completions-style surface below /v1 are served below /api/v1, too.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: [...new Set(operations.map(({ surface }) => surface.title))].map((name) => ({ name })),
    paths: { ...Object.fromEntries(written), ...statusPath },
    components: { schemas: schemas.components, headers, securitySchemes },
  };
}

function listOperations(schema: Schema, options: Options, service: DescService): Operation[] {
  const surface = options.get<HttpService>(service, "tollgate.facade.v1.http_service");
  if (surface === undefined) {
    return [];
  }
  const errorBody = schema.allFiles
    .flatMap((file) => file.messages)
    .find((desc) => desc.typeName === surface.errorBody);
  if (errorBody === undefined) {
    throw new Error(`${service}: there is no message ${surface.errorBody}`);
  }
  return options.endpoints(service).map((endpoint) => {
    const own = options.get<HttpMethod>(endpoint.method, "tollgate.facade.v1.http_method");
    return { ...endpoint, surface, errorBody, ...readMethod(own) };
  });
}

function readMethod(own: HttpMethod | undefined) {
  return {
    isPublic: own?.public ?? false,
    ownErrors: own?.errors ?? [],
    success: own?.success || 200,
    hasLines: own?.lines ?? false,
  };
}

/** One path and verb. Where several surfaces share it, the caller's headers choose, and either format may come. */
function operationObject(shared: readonly Operation[], schemas: Schemas): Json {
  const [first] = shared;
  if (first === undefined) {
    return {};
  }
  const parameters = shared.flatMap((operation) => listParameters(operation, schemas));
  return {
    operationId: first.method.localName,
    tags: shared.map(({ surface }) => surface.title),
    summary: readComment(first.method),
    ...(first.isPublic ? { security: [] } : { security: [{ bearer: [] }, { apiKey: [] }] }),
    ...(parameters.length > 0 && { parameters: unique(parameters, "name") }),
    ...(hasBody(first.rule.verb) && {
      requestBody: { required: true, content: { "application/json": { schema: schemas.refTo(first.method.input) } } },
    }),
    responses: Object.fromEntries([[String(first.success), success(shared, schemas)], ...failures(shared, schemas)]),
  };
}

function listParameters({ method, rule }: Operation, schemas: Schemas): Json[] {
  const isInPath = (name: string) => rule.path.includes(`{${name}`);
  const fields = method.input.fields.filter((field) => !hasBody(rule.verb) || isInPath(schemas.keyOf(field)));
  return fields.map((field) => {
    const { description, ...schema } = schemas.fieldSchema(field);
    const name = schemas.keyOf(field);
    const inPath = isInPath(name);
    const required = inPath || schemas.isRequired(field);
    const isList = field.fieldKind === "list";
    return {
      name,
      in: inPath ? "path" : "query",
      ...(required && { required }),
      ...(isList && { explode: false }), // items with commas between
      description,
      schema,
    };
  });
}

function success(shared: readonly Operation[], schemas: Schemas): Json {
  const lines = shared.filter(({ hasLines }) => hasLines).map(({ method }) => schemas.refTo(method.output));
  if (lines.length > 0) {
    return {
      description: "The answer as JSON lines, each of this schema.",
      headers: requestIdHeader,
      content: { "application/jsonl": { schema: oneOrMore(lines) } },
    };
  }
  const whole = shared.map(({ method }) => schemas.refTo(toBody(method).whole));
  const events = shared.flatMap(({ method }) => toBody(method).event ?? []).map((desc) => schemas.refTo(desc));
  return {
    description:
      events.length === 0 ? "The answer." : "The answer as JSON, or as server-sent events when stream is true.",
    headers: requestIdHeader,
    content: {
      "application/json": { schema: oneOrMore(whole) },
      ...(events.length > 0 && { "text/event-stream": { schema: oneOrMore(events) } }),
    },
  };
}

/** The body of a method. A streaming method returns a union of the complete answer and an event's content. */
function toBody(method: DescMethod): { whole: DescMessage; event?: DescMessage } {
  if (method.methodKind !== "server_streaming") {
    return { whole: method.output };
  }
  const [whole, event] = method.output.fields.map((field) => field.message);
  if (whole === undefined || event === undefined) {
    throw new Error(`${method}: returns no union of an answer and an event`);
  }
  return { whole, event };
}

function failures(shared: readonly Operation[], schemas: Schemas): [string, Json][] {
  const statuses = new Map<number, { descriptions: Set<string>; bodies: Json[] }>();
  for (const operation of shared) {
    const { errorBody } = operation;
    for (const { status, description } of listErrors(operation)) {
      const entry = statuses.get(status) ?? { descriptions: new Set(), bodies: [] };
      statuses.set(status, entry);
      entry.descriptions.add(description);
      entry.bodies.push(schemas.refTo(errorBody));
    }
  }
  return [...statuses].map(([status, { descriptions, bodies }]) => [
    String(status),
    {
      description: [...descriptions].join(" "),
      headers: {
        ...requestIdHeader,
        ...(status === 429 && { "retry-after": { $ref: "#/components/headers/retry-after" } }),
      },
      content: { "application/json": { schema: oneOrMore(bodies) } },
    },
  ]);
}

/**
 * Errors that only a request which runs something gets: other requests have no body to refuse, and are answered for a
 * frozen account, too.
 */
const runsAlone = [403, 413, 415];
const keyAlone = [401, 429];

/** The errors of an operation by status: its own, and those of its surface that it can answer with. */
function listErrors({ surface, ownErrors, isPublic, rule }: Operation): HttpService["errors"] {
  const never = [...(isPublic ? keyAlone : []), ...(hasBody(rule.verb) ? [] : runsAlone)];
  const own = new Set(ownErrors.map(({ status }) => status));
  return [...surface.errors.filter(({ status }) => !never.includes(status) && !own.has(status)), ...ownErrors].sort(
    (one, other) => one.status - other.status,
  );
}

const requestIdHeader = { "x-request-id": { $ref: "#/components/headers/x-request-id" } };

const headers = {
  "x-request-id": {
    description: "Names the request; its receipt is found by it. Also sent as request-id.",
    schema: { type: "string", pattern: "^req_[0-9a-f]{32}$" },
  },
  "retry-after": {
    description: "Whole seconds after which a retry can succeed. Absent: none can.",
    schema: { type: "integer", minimum: 1, maximum: 60 },
  },
};

const securitySchemes = {
  bearer: { type: "http", scheme: "bearer", description: "The API key." },
  apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "The API key." },
};

function oneOrMore(schemas: readonly Json[]): Json {
  return schemas.length === 1 && schemas[0] !== undefined ? schemas[0] : { anyOf: schemas };
}

function unique(items: readonly Json[], key: string): Json[] {
  return [...new Map(items.map((item) => [item[key], item])).values()];
}
