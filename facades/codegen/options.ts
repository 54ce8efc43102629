import { type DescExtension, type DescMethod, type DescService, getOption, hasOption } from "@bufbuild/protobuf";
import type { Schema } from "@bufbuild/protoplugin";

const verbs = { get: "GET", post: "POST", patch: "PATCH", delete: "DELETE" } as const;
type HttpVerb = (typeof verbs)[keyof typeof verbs];

/** The HTTP rule of a method: the parts of google.api.http that the surfaces use. */
export interface HttpRule {
  readonly verb: HttpVerb;
  /** A template of google.api.http, such as "/v1/models/{id=**}" or "/v1/keys/{hash}". */
  readonly path: string;
}

/** Whether requests of a verb have a body. */
export function hasBody(verb: HttpVerb): boolean {
  return verb === "POST" || verb === "PATCH";
}

/** A method that is served over HTTP. */
export interface HttpEndpoint {
  readonly method: DescMethod;
  readonly rule: HttpRule;
}

/**
 * Reads options by the full name of their extension, from the request to the plugin itself. A plugin that imported
 * generated code could not run while that code is being replaced.
 */
export class Options {
  readonly #extensions: Map<string, DescExtension>;

  constructor(schema: Schema) {
    const extensions = schema.allFiles.flatMap((file) => file.extensions);
    this.#extensions = new Map(extensions.map((extension) => [extension.typeName, extension]));
  }

  /** The value of an option, in the caller's type. Undefined: not set. */
  get<T>(desc: Parameters<typeof hasOption>[0], typeName: string): T | undefined {
    const extension = this.#extensions.get(typeName);
    return extension !== undefined && hasOption(desc, extension) ? (getOption(desc, extension) as T) : undefined;
  }

  /** The methods of a service that have google.api.http, in the file's order. */
  endpoints(service: DescService): HttpEndpoint[] {
    return service.methods.flatMap((method) => {
      const rule = this.#ruleOf(method);
      return rule === undefined ? [] : [{ method, rule }];
    });
  }

  #ruleOf(method: DescMethod): HttpRule | undefined {
    const http = this.get<{ pattern: { case?: string; value?: string }; body: string }>(method, "google.api.http");
    if (http === undefined) {
      return undefined;
    }
    const { pattern, body } = http;
    const verb = verbs[pattern.case as keyof typeof verbs];
    if (verb === undefined || pattern.value === undefined) {
      throw new Error(`${method}: only ${Object.keys(verbs).join(", ")} are served`);
    }
    if (hasBody(verb) !== (body === "*")) {
      throw new Error(`${method}: body must be ${hasBody(verb) ? '"*"' : "absent"}`);
    }
    return { verb, path: pattern.value };
  }
}
