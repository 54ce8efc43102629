import * as z from "zod";
import { nearest } from "#lib/text/nearest.ts";
import { toPrintable } from "#lib/text/printable.ts";
import type { Path } from "./path.ts";

/** A wrong field: its fault and the allowed values, in words. */
export interface Problem {
  readonly path: Path;
  readonly message: string;
}

/** Puts a schema's issues about a value into words. */
export function explain(schema: z.ZodType, value: unknown, issues: readonly z.core.$ZodIssue[]): Problem[] {
  return issues.flatMap((issue): Problem[] => {
    const meant = issue.code === "invalid_union" ? issue.errors.find(isOfItsKind) : undefined;
    if (meant !== undefined) {
      const placed = meant.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
      return explain(schema, value, placed as z.core.$ZodIssue[]);
    }
    if (issue.code !== "unrecognized_keys") {
      return [{ path: issue.path, message: describe(issue, valueAt(value, issue.path)) }];
    }
    const allowed = fieldsAt(schema, issue.path);
    return issue.keys.map((key) => {
      const meant = nearest(key, allowed);
      const hint = meant === undefined ? "" : ` (did you mean ${meant}?)`;
      const message = `unknown field${hint}; allowed here: ${allowed.join(", ")}`;
      return { path: [...issue.path, key], message };
    });
  });
}

/** Whether a value is of the kind that one of several forms asks for: what is wrong lies within it. */
function isOfItsKind(issues: readonly z.core.$ZodIssue[]): boolean {
  return !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0);
}

function describe(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      if (value === undefined) {
        return `is missing; it must be ${nameKind(issue.expected)}`;
      }
      if (value === null) {
        return `is empty; it must be ${nameKind(issue.expected)}, or leave the field out`;
      }
      return `must be ${nameKind(issue.expected)}${shown(value)}`;
    case "invalid_value": {
      const allowed = issue.values.map(String);
      const meant = typeof value === "string" ? nearest(value, allowed) : undefined;
      const hint = meant === undefined ? "" : ` (did you mean ${meant}?)`;
      return `must be one of ${allowed.join(", ")}${shown(value)}${hint}`;
    }
    case "too_small":
      return `must ${bound(issue.origin, issue.inclusive ? "at least" : "above", issue.minimum)}${shown(value)}`;
    case "too_big":
      return `must ${bound(issue.origin, issue.inclusive ? "at most" : "below", issue.maximum)}${shown(value)}`;
    case "invalid_union": {
      const kinds = issue.errors
        .flat()
        .map((one) => ("expected" in one ? nameKind(String(one.expected)) : one.message));
      return `must be ${[...new Set(kinds)].join(" or ")}${shown(value)}`;
    }
    default:
      return `${issue.message}${shown(value)}`; // the schema has its own message
  }
}

function bound(origin: string, relation: string, limit: number | bigint): string {
  if (origin === "string") {
    return limit === 1 ? "not be empty" : `have ${relation} ${limit} characters`;
  }
  if (origin === "array") {
    return `have ${relation} ${limit} ${limit === 1 ? "entry" : "entries"}`;
  }
  return `be ${relation} ${limit}`;
}

function nameKind(expected: string): string {
  switch (expected) {
    case "string":
      return "text";
    case "int":
      return "a whole number";
    case "boolean":
      return "true or false";
    case "array":
      return 'a list ("- " entries)';
    case "object":
      return "a mapping of fields";
    default:
      return `a ${expected}`;
  }
}

/** The value as it is, unless it may hold a secret, as URLs may. */
function shown(value: unknown): string {
  if (value === null || value === undefined || typeof value === "object") {
    return "";
  }
  const text = toPrintable(typeof value === "number" ? String(value) : JSON.stringify(value));
  return text.length > 60 || text.includes("://") ? "" : `, is ${text}`;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown> | undefined)?.[part], value);
}

/** Whether a field is an amount: text that may be written without quotes. */
export function isAmount(schema: z.ZodType, path: Path): boolean {
  const at = schemaAt(schema, path);
  return at instanceof z.ZodString && "coerce" in at._zod.def && at._zod.def.coerce === true;
}

/** The names of the fields that a mapping may have. */
function fieldsAt(schema: z.ZodType, path: Path): string[] {
  const at = schemaAt(schema, path);
  const found = at && formsOf(at).find((form) => form instanceof z.ZodObject);
  return found === undefined ? [] : Object.keys(found.shape);
}

/** The schema of a field. Undefined: there is no such field. */
function schemaAt(schema: z.ZodType, path: Path): z.ZodType | undefined {
  let at = unwrap(schema);
  for (const part of path) {
    const next: z.ZodType | undefined = formsOf(at)
      .map((form) => fieldOf(form, part))
      .find((field) => field !== undefined);
    if (next === undefined) {
      return undefined;
    }
    at = unwrap(next);
  }
  return at;
}

/** The forms that a value may have: a mapping or a list of such, for example. */
function formsOf(schema: z.ZodType): z.ZodType[] {
  return schema instanceof z.ZodUnion ? schema.options.map((form) => unwrap(form as z.ZodType)) : [schema];
}

function fieldOf(schema: z.ZodType, part: PropertyKey): z.ZodType | undefined {
  if (schema instanceof z.ZodArray) {
    return typeof part === "number" ? (schema.element as z.ZodType) : undefined;
  }
  return schema instanceof z.ZodObject ? schema.shape[String(part)] : undefined;
}

function unwrap(schema: z.ZodType): z.ZodType {
  let at = schema;
  while (at instanceof z.ZodDefault || at instanceof z.ZodPrefault || at instanceof z.ZodOptional) {
    at = at.unwrap() as z.ZodType;
  }
  return at;
}
