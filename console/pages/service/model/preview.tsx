import { Fragment } from "preact";
import { type Model, ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { prices } from "../../../contract/clients.ts";
import { countOf, formatCount, formatPercent } from "../../../format/numbers.ts";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Amount, Rate } from "../../../parts/figures/amount.tsx";

interface Props {
  readonly model: Model;
  /** Pico-USD a token. Undefined: the typed text is not a price. */
  readonly input: bigint | undefined;
  readonly output: bigint | undefined;
}

/** A request of ordinary size, to illustrate a price. */
const sample = { input: 1000n, output: 500n };

/** What a request would cost before and after the change, and whose money pays the new price. */
export function Preview({ model, input, output }: Props) {
  if (input === undefined || output === undefined) {
    return null;
  }
  const before = costOf(model.inputPicoUsdPerToken, model.outputPicoUsdPerToken);
  const after = costOf(input, output);
  const words =
    model.outputPicoUsdPerToken === 0n
      ? `${formatCount(sample.input)} tokens`
      : `${formatCount(sample.input)} input and ${formatCount(sample.output)} output tokens`;
  return (
    <div class="preview">
      <p>
        {words}: <Amount pico={before} /> → <Amount pico={after} />
        {before > 0n && ` (${formatChange(before, after)})`}
      </p>
      <p class="muted small">
        Money that comes in from now on pays this. Money that is there keeps the prices of the day on which it came in:
      </p>
      <WhoPaysWhat model={model} />
    </div>
  );
}

/** The prices that the unspent money of all accounts goes on paying, whatever price is set now. */
function WhoPaysWhat({ model }: { readonly model: Model }) {
  const { data: paid } = useQuery(
    async (signal) => (await prices.listPaidPrices({ model: model.id }, { signal })).paidPrices,
    [model.id],
  );
  if (paid === undefined || paid.length === 0) {
    return <p class="small">{paid && "Nobody has unspent money."}</p>;
  }
  return (
    <dl class="pays">
      {paid.map(({ inputPicoUsdPerToken: input, outputPicoUsdPerToken: output, unspentPicoUsd, lots }) => (
        <Fragment key={`${input} ${output}`}>
          <dt>
            <Amount pico={BigInt(unspentPicoUsd)} /> <span class="muted">in {countOf(lots, "credit")}</span>
          </dt>
          <dd class="number">
            <Rate picoPerToken={input} /> in
          </dd>
          <dd class="number">
            {model.kind !== ModelKind.EMBEDDING && (
              <>
                <Rate picoPerToken={output} /> out
              </>
            )}
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** Whether a price more than doubles or halves, which may be a typing error. */
export function isLargeChange(model: Model, input: bigint, output: bigint): boolean {
  const isLarge = (before: bigint, after: bigint) => before > 0n && (after > 2n * before || 2n * after < before);
  return isLarge(model.inputPicoUsdPerToken, input) || isLarge(model.outputPicoUsdPerToken, output);
}

function costOf(input: bigint, output: bigint): bigint {
  return sample.input * input + sample.output * output;
}

function formatChange(before: bigint, after: bigint): string {
  const part = Number(after - before) / Number(before);
  return part >= 0 ? `+${formatPercent(part)}` : `−${formatPercent(-part)}`;
}
