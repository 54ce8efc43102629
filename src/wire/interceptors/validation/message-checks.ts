import { type DescField, type DescMessage, type DescOneof, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { type FieldRules, required_oneof, rules } from "#gen/tollgate/validate/v1/validate_pb.js";
import { isPrintable, isSeen } from "#lib/text/printable.ts";
import { isStorable } from "#lib/text/storable.ts";

/** A bound that a message violates. */
export interface Violation {
  /** The path of the field in the contract's terms, such as "conversation.messages[0].role". */
  readonly path: string;
  /** A sentence for people. */
  readonly message: string;
}

/** Finds the first violation in a message, or in a field's value. */
export type Check<T = unknown> = (value: T) => Violation | undefined;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Compiles the checks of messages from their `tollgate.validate.v1` options, once for each message type. Undefined for
 * types without bounds. Throws when a pattern is not a regular expression.
 */
export function createChecks(): (desc: DescMessage) => Check | undefined {
  const known = new Map<DescMessage, Check | undefined>();
  const compile = (desc: DescMessage): Check | undefined => {
    if (!known.has(desc)) {
      known.set(desc, undefined); // a message nested in itself is not checked again: the contract has none
      const checks = [...desc.oneofs.map(checkOneof), ...desc.fields.map((field) => checkField(field, compile))];
      known.set(desc, findFirst(checks.filter((check) => check !== undefined)) as Check | undefined);
    }
    return known.get(desc);
  };
  return compile;
}

function findFirst<T>(checks: readonly Check<T>[]): Check<T> | undefined {
  if (checks.length <= 1) {
    return checks[0];
  }
  return (value) => {
    for (const check of checks) {
      const found = check(value);
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  };
}

function checkOneof(oneof: DescOneof): Check<Fields> | undefined {
  if (!hasOption(oneof, required_oneof) || !getOption(oneof, required_oneof)) {
    return undefined;
  }
  const { localName, name } = oneof;
  const members = oneof.fields.map((field) => field.name).join(", ");
  const violation = { path: name, message: `One of ${members} is required.` };
  return (message) => ((message[localName] as { case?: string }).case === undefined ? violation : undefined);
}

function checkField(field: DescField, compile: (desc: DescMessage) => Check | undefined): Check<Fields> | undefined {
  const { name, localName } = field;
  const own = hasOption(field, rules) ? getOption(field, rules) : undefined;
  const inside = field.message === undefined ? undefined : compile(field.message);
  const within = inside && ((value: unknown) => prefix(`${name}.`, inside(value)));
  const check = field.fieldKind === "list" ? listCheck(field, own, inside) : findFirst(valueChecks(field, own, within));
  if (check === undefined) {
    return undefined;
  }
  const { oneof } = field;
  if (oneof !== undefined) {
    return (message) => {
      const member = message[oneof.localName] as { case?: string; value?: unknown };
      return member.case === localName ? check(member.value) : undefined;
    };
  }
  return (message) => check(message[localName]);
}

/** The checks of one value. A required value's absence is checked first. */
function valueChecks(field: DescField, own: FieldRules | undefined, within: Check | undefined): Check[] {
  const { name } = field;
  const checks = ownChecks(field, name, own);
  if (within !== undefined) {
    checks.push(within);
  }
  const check = findFirst(checks);
  const missing = own?.required ? { path: name, message: `${name} is required.` } : undefined;
  if (check === undefined) {
    return missing === undefined ? [] : [(value) => (value === undefined ? missing : undefined)];
  }
  return [(value) => (value === undefined ? missing : check(value))];
}

function ownChecks(field: DescField, name: string, own: FieldRules | undefined): Check[] {
  if (own === undefined) {
    return [];
  }
  if (field.enum !== undefined) {
    return own.defined || own.known ? [enumCheck(field, name, !own.defined)] : [];
  }
  if (field.scalar === ScalarType.STRING) {
    return textChecks(name, own);
  }
  return field.scalar === undefined ? [] : numberChecks(name, own);
}

function listCheck(field: DescField, own: FieldRules | undefined, inside: Check | undefined): Check | undefined {
  const { name } = field;
  const item = findFirst([...ownChecks(field, "", own?.items), ...(inside === undefined ? [] : [inside])]);
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = own ?? {};
  if (item === undefined && own?.minItems === undefined && own?.maxItems === undefined) {
    return undefined;
  }
  return (value) => {
    const items = value as readonly unknown[];
    if (items.length < minItems || items.length > maxItems) {
      return { path: name, message: sizeMessage(name, minItems, maxItems) };
    }
    for (let index = 0; item !== undefined && index < items.length; index++) {
      const found = item(items[index]);
      if (found !== undefined) {
        return inItem(`${name}[${index}]`, found);
      }
    }
    return undefined;
  };
}

function sizeMessage(name: string, least: number, most: number): string {
  if (most === Number.POSITIVE_INFINITY) {
    return least === 1 ? `${name} must not be empty.` : `${name} must have at least ${least} items.`;
  }
  return least > 0 ? `${name} must have ${least} to ${most} items.` : `${name} must have at most ${most} items.`;
}

/** A violation of an entry, whose own checks know no name, or of a field within it. */
function inItem(item: string, { path, message }: Violation): Violation {
  return path === "" ? { path: item, message: `${item}${message}` } : { path: `${item}.${path}`, message };
}

function prefix(start: string, found: Violation | undefined): Violation | undefined {
  return found && { path: start + found.path, message: found.message };
}

function textChecks(name: string, { required, pattern, form, maxLength, storable, printable }: FieldRules): Check[] {
  const checks: Check<string>[] = [];
  const violation = (message: string) => ({ path: name, message: `${name} ${message}` });
  if (required) {
    const empty = violation("must not be empty.");
    checks.push((text) => (text === "" ? empty : undefined));
  }
  if (pattern !== "") {
    const whole = new RegExp(`^(?:${pattern})$`);
    const wrong = violation(`must be ${form}.`);
    checks.push((text) => (text === "" || whole.test(text) ? undefined : wrong));
  }
  if (maxLength !== undefined) {
    const long = violation(`must have at most ${maxLength} characters.`);
    checks.push((text) => (text.length > maxLength ? long : undefined));
  }
  if (storable) {
    const broken = violation("must not hold NUL characters or broken surrogate pairs.");
    checks.push((text) => (isStorable(text) ? undefined : broken));
  }
  if (printable) {
    const obeyed = violation("must hold no control characters, line ends or changes of the writing direction.");
    const blank = violation("must have something that is seen.");
    checks.push((text) => (isPrintable(text) ? undefined : obeyed));
    checks.push((text) => (text === "" || isSeen(text) ? undefined : blank));
  }
  return checks as Check[];
}

function numberChecks(name: string, { minimum, above, maximum }: FieldRules): Check[] {
  if (minimum === undefined && above === undefined && maximum === undefined) {
    return [];
  }
  const least = minimum ?? Number.NEGATIVE_INFINITY;
  const floor = above ?? Number.NEGATIVE_INFINITY;
  const most = maximum ?? Number.POSITIVE_INFINITY;
  const wrong = { path: name, message: `${name} must be ${formatRange(minimum, above, maximum)}.` };
  // Comparing bigints with numbers is exact. NaN is within no bounds.
  return [
    (value) =>
      (value as number) >= least && (value as number) > floor && (value as number) <= most ? undefined : wrong,
  ];
}

function formatRange(minimum: number | undefined, above: number | undefined, maximum: number | undefined): string {
  if (maximum === undefined) {
    return above === undefined ? `at least ${minimum}` : `above ${above}`;
  }
  if (above !== undefined) {
    return `above ${above} and at most ${maximum}`;
  }
  return minimum === undefined ? `at most ${maximum}` : `from ${minimum} to ${maximum}`;
}

/** Accepts a value of the enum. `mayBeLeftOut`: also accepts the first one, which means "not set". */
function enumCheck(field: DescField, name: string, mayBeLeftOut: boolean): Check {
  const desc = field.enum;
  const values = (desc?.values ?? []).filter(({ number }) => number !== 0);
  const numbers = new Set(values.map(({ number }) => number));
  const words = values.map((value) => value.name.slice(desc?.sharedPrefix?.length ?? 0).toLowerCase());
  const wrong = { path: name, message: `${name} must be ${words.slice(0, -1).join(", ")} or ${words.at(-1)}.` };
  return (value) => (numbers.has(value as number) || (mayBeLeftOut && value === 0) ? undefined : wrong);
}
