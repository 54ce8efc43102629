import { expect, test } from "@jest/globals";
import { toSampler } from "#src/telemetry/traces/sdk.ts";

test.each<[NodeJS.ProcessEnv, RegExp]>([
  [{}, /^ParentBased\{root=AlwaysOnSampler/],
  [{ OTEL_TRACES_SAMPLER: "always_on" }, /^AlwaysOnSampler$/],
  [{ OTEL_TRACES_SAMPLER: "always_off" }, /^AlwaysOffSampler$/],
  [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" }, /^TraceIdRatioBased\{0\.25\}$/],
  [{ OTEL_TRACES_SAMPLER: "parentbased_always_off" }, /^ParentBased\{root=AlwaysOffSampler/],
  [
    { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.5" },
    /^ParentBased\{root=TraceId.*0\.5/,
  ],
])("%j samples as OpenTelemetry says", (env, description) => {
  expect(toSampler(env).toString()).toMatch(description);
});

test("a sampler that nobody knows stops the start", () => {
  expect(() => toSampler({ OTEL_TRACES_SAMPLER: "sometimes" })).toThrow("OTEL_TRACES_SAMPLER is sometimes");
});
