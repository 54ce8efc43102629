import { expect, test } from "@jest/globals";
import {
  amount,
  coreTarget,
  count,
  deadline,
  moment,
  port,
  rate,
  serverUrl,
  span,
  usd,
  words,
} from "#src/cli/shared/arguments.ts";

test.each([
  [usd, "10", 10_000_000_000_000n],
  [usd, "0.000000000001", 1n],
  [rate, "0.20", 200_000n],
  [rate, "0", 0n],
  [count, "7", 7],
  [port, "0", 0],
  [port, "65535", 65_535],
  [amount, "0", 0],
  [amount, "2.5", 2.5],
  [span, "0s", 0],
  [span, "250ms", 250],
  [span, "90s", 90_000],
  [span, "30m", 1_800_000],
  [span, "24h", 86_400_000],
  [span, "7d", 604_800_000],
  [moment, "2026-01-31", new Date("2026-01-31T00:00:00Z")],
  [moment, "2026-01-31T12:00:00+02:00", new Date("2026-01-31T10:00:00Z")],
  [moment, "yesterday", new Date((Math.floor(Date.now() / 86_400_000) - 1) * 86_400_000)],
  [words, "a, b", ["a", "b"]],
  [serverUrl, "127.0.0.1:8000", "http://127.0.0.1:8000"],
  [serverUrl, "gpu.example:8000", "http://gpu.example:8000"],
  [serverUrl, "https://gpu.example", "https://gpu.example"],
  [coreTarget, "http://127.0.0.1:50051", "127.0.0.1:50051"],
  [coreTarget, "dns:///core.example:50051", "dns:///core.example:50051"],
] as const)("%p reads %j", (parse, text, value) => {
  expect(parse(text)).toEqual(value);
});

test.each([
  [usd, ["0", "-1", "1e3", "", "10 USD", "9007.2", "0.0000000000001"]],
  [rate, ["-1", "0.0000001", "cheap"]],
  [count, ["0", "-1", "1.5", "many", "1234567890"]],
  [port, ["-1", "65536", "http"]],
  [amount, ["-1", "fast", "."]],
  [span, ["24", "h", "1w", "-1s", "1.5h"]],
  [deadline, ["0", "soon", "-1d", "999999999d", "9999999999d", "2026-02-30"]],
  [moment, ["tomorrow", "Yesterday", "2026-13-01", "2026-02-30", "2026-01-31 12:00", "2026-01-31T12:00:00"]],
  [words, ["", "a,,b"]],
  [serverUrl, ["", "ftp://gpu.example", "http://"]],
  [coreTarget, ["https://core.example:50051"]],
] as const)("%p refuses %j", (parse, texts) => {
  for (const text of texts) {
    expect(() => parse(text)).toThrow("It must be");
  }
});
