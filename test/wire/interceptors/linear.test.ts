import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { fromJsonString, getOption, hasOption } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import { Metadata } from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { rules } from "#gen/tollgate/validate/v1/validate_pb.js";
import { parseUsd } from "#lib/money/money.ts";
import { toNetwork } from "#lib/net/network.ts";
import { parseMoment } from "#lib/time/moment.ts";
import { isSignedByStripe } from "#src/checkout/stripe/signature.ts";
import { isListKey } from "#src/identity/accounts/accounts.ts";
import { readAuditKey } from "#src/identity/audit/audit-trail.ts";
import { isOperatorToken } from "#src/identity/operators/operator-token.ts";
import { isLinkToken, isSessionCookie, isSessionToken } from "#src/identity/sessions/session-token.ts";
import { toHeaders } from "#src/wire/grpc/messages/metadata.ts";
import { strictNumbers } from "#src/wire/grpc/workarounds/strict-numbers.ts";
import { createGate } from "#src/wire/interceptors/access/authenticate.ts";
import { createFailedAttempts } from "#src/wire/interceptors/access/failed-attempts.ts";
import { findSlowness } from "../../../scripts/check-expressions.ts";
import { expectLinear } from "../../support/work.ts";

// What a caller of the core sends costs work that grows with its bytes and not with their square.

const pieces = [" ", ",", "=", "a", "0", "Bearer ", "t=1,", "v1=00,", "::", ":", "-", "_", "/", "."];

/** Readers of texts that a caller or a payment provider sends. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  "an audit page": readAuditKey,
  "a page of accounts": isListKey,
  "an amount": parseUsd,
  "a moment": parseMoment,
  "an address": toNetwork,
  "a session's token": (text) => isSessionToken(`tgse_${text}`),
  "a session's cookie": (text) => isSessionCookie(`tgco_${text}`),
  "a link": (text) => isLinkToken(`tgli_${text}`),
  "an operator's token": (text) => isOperatorToken(`tgop_${text}`),
  "a payment's signature": (text) => isSignedByStripe(Buffer.from("{}"), text, "secret", 0),
  "a payment's signature in time": (text) => isSignedByStripe(Buffer.from("{}"), `t=1,${text}`, "secret", 1000),
  metadata(text) {
    const metadata = new Metadata();
    metadata.set("x-name", text);
    return toHeaders(metadata);
  },
  "a credential": readCredential,
};

test.each(Object.entries(readers))("%s", (_, read) => {
  for (const piece of pieces) {
    expectLinear(16_000, (size) => {
      try {
        read(piece.repeat(size / piece.length));
        read(`x${piece.repeat(size / piece.length)}x`);
      } catch {}
    });
  }
});

function readCredential(authorization: string): void {
  const nobody = { authenticate: () => Promise.reject(new Error()), forget() {} };
  const gate = createGate(nobody, createFailedAttempts(), () => false);
  const header = new Headers({ authorization });
  const admitted = gate.admit({
    method: AccountsService.method.getAccount,
    header,
    contextValues: createContextValues(),
  });
  Promise.resolve(admitted).catch(() => {});
}

const services = [AccountsService, EmbeddingsService, InferenceService, MeteringService, OperatorsService];
const methods = services.flatMap(({ methods: all }) => all.map((method) => [method.name, method] as const));

describe("a message as JSON", () => {
  test.each(methods)("of %s, with numbers of many digits", (_, method) => {
    const { textDecoder } = strictNumbers(method) as { textDecoder: { decode(bytes: Uint8Array): string } };
    for (const { jsonName } of method.input.fields.filter(({ fieldKind }) => fieldKind === "scalar")) {
      for (const around of ["", '"']) {
        const texts = new Map(
          [100_000, 200_000].map((size) => [
            size,
            Buffer.from(`{"${jsonName}":${around}${"9".repeat(size)}${around}}`),
          ]),
        );
        expectLinear(100_000, (size) => {
          try {
            fromJsonString(method.input, textDecoder.decode(texts.get(size) ?? new Uint8Array()));
          } catch {}
        });
      }
    }
  });
});

test("every pattern in the contract takes work that grows with its text", () => {
  const patterns = services.flatMap(({ methods: all }) => all.flatMap(({ input }) => patternsOf(input, new Set())));
  expect(patterns.length).toBeGreaterThan(3);
  for (const pattern of patterns) {
    expect(findSlowness({ source: `^(?:${pattern})$`, flags: "" })).toBeUndefined();
  }
});

function patternsOf(desc: DescMessage, seen: Set<DescMessage>): string[] {
  if (seen.has(desc)) {
    return [];
  }
  seen.add(desc);
  return desc.fields.flatMap((field) => [
    ...patternOf(field),
    ...(field.message === undefined ? [] : patternsOf(field.message, seen)),
  ]);
}

function patternOf(field: DescField): string[] {
  const pattern = hasOption(field, rules) ? getOption(field, rules).pattern : "";
  return pattern === "" ? [] : [pattern];
}
