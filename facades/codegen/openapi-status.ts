import type { Json } from "./openapi-schemas.ts";

const trouble: Json = {
  type: "object",
  required: ["what", "reason", "since"],
  properties: {
    what: { type: "string", description: 'Its kind, such as "no_server" or "database".' },
    model: { type: "string", description: "The model that it concerns. Absent: all." },
    reason: { type: "string", description: "For people." },
    since: { type: "string", format: "date-time" },
  },
};

const status: Json = {
  type: "object",
  required: ["ok", "red"],
  properties: {
    ok: { type: "boolean", description: "Whether nothing is wrong that clients notice." },
    red: { type: "array", items: trouble },
    availability: {
      type: "number",
      minimum: 0,
      maximum: 1,
      description:
        "The part of requests of today and yesterday that was served. Absent: there were none, or it is not known.",
    },
  },
};

/** The public state of the service, which is no method of a surface. */
export const statusPath: Json = {
  "/status": {
    get: {
      operationId: "getStatus",
      summary: "Tell whether the service is well. Browsers, which ask for a page, get one.",
      security: [],
      responses: {
        "200": { description: "OK", content: { "application/json": { schema: status }, "text/html": {} } },
      },
    },
  },
};
