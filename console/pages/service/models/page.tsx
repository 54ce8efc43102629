import { type Model, ModelKind, ThinkingMode } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { catalogue } from "../../../contract/clients.ts";
import { countOf, formatCount } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { mostDecimals, Rate, tokensPerRate } from "../../../parts/figures/amount.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Page } from "../../../parts/frame/page.tsx";

const thinking: Readonly<Record<ThinkingMode, string>> = {
  [ThinkingMode.UNSPECIFIED]: "–",
  [ThinkingMode.NONE]: "no",
  [ThinkingMode.ALWAYS]: "always",
  [ThinkingMode.DEFAULT_OFF]: "off by default",
  [ThinkingMode.DEFAULT_ON]: "on by default",
};

/** The served models and their prices. */
export default function ModelsPage() {
  const pages = usePages<Model>(async (pageToken, signal) => {
    const answer = await catalogue.listModels({ pageToken, pageSize: 100 }, { signal });
    return { rows: answer.models, next: answer.nextPageToken };
  }, []);
  return (
    <Page title="Models" lead="What is served, with the live price in USD for a million tokens.">
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No model is served">Name models and their servers in the configuration.</Empty>
          ) : (
            <ModelTable rows={rows} />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "model")} />
    </Page>
  );
}

function ModelTable({ rows }: { readonly rows: readonly Model[] }) {
  const decimals = {
    input: mostDecimals(rows.map((row) => row.inputPicoUsdPerToken * tokensPerRate)),
    output: mostDecimals(rows.map((row) => row.outputPicoUsdPerToken * tokensPerRate)),
  };
  return (
    <Table
      caption="Models"
      rows={rows}
      keyOf={(row) => row.id}
      columns={[
        {
          name: "Model",
          isHeader: true,
          show: (row) => (
            <a href={`/models/${row.id}`}>
              <Clip text={row.id} />
            </a>
          ),
        },
        {
          name: "Input",
          isNumber: true,
          show: (row) => <Rate picoPerToken={row.inputPicoUsdPerToken} decimals={decimals.input} />,
        },
        { name: "Output", isNumber: true, show: (row) => <OutputRate model={row} decimals={decimals.output} /> },
        { name: "Context", isNumber: true, isOptional: true, show: (row) => formatCount(row.contextLength) },
        { name: "Max output", isNumber: true, isOptional: true, show: (row) => <MaxOutput model={row} /> },
        { name: "Thinking", isOptional: true, show: (row) => thinking[row.thinking] },
      ]}
    />
  );
}

function OutputRate({ model, decimals }: { readonly model: Model; readonly decimals: number }) {
  if (model.kind === ModelKind.EMBEDDING) {
    return <span class="muted">embedding</span>;
  }
  return <Rate picoPerToken={model.outputPicoUsdPerToken} decimals={decimals} />;
}

function MaxOutput({ model }: { readonly model: Model }) {
  return model.kind === ModelKind.EMBEDDING ? (
    <span class="muted">{model.dimensions > 0 ? countOf(model.dimensions, "dimension") : "–"}</span>
  ) : (
    <span>{formatCount(model.maxOutputTokens)}</span>
  );
}
