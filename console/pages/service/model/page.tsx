import { useState } from "preact/hooks";
import { type Model, ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import type { Price } from "#gen/tollgate/metering/v1/price_pb.js";
import type { PageProps } from "../../../app/page-props.ts";
import { say } from "../../../app/said.tsx";
import { isCustomer, mayOwn } from "../../../app/session.ts";
import { catalogue, prices } from "../../../contract/clients.ts";
import { Answer } from "../../../parts/calls/answer.tsx";
import { useQuery } from "../../../parts/calls/use-query.ts";
import { Badge } from "../../../parts/figures/badge.tsx";
import { ActionButton } from "../../../parts/forms/action-button.tsx";
import { Page } from "../../../parts/frame/page.tsx";
import { Source } from "../../../parts/settings/source.tsx";
import { CurrentPrice } from "./current-price.tsx";
import { History } from "./history.tsx";
import { SetPrice } from "./set-price.tsx";

const refreshMs = 10_000;
const historyLength = 200;

interface Known {
  readonly model: Model;
  /** Newest first. Empty: the reader may not see it. */
  readonly history: readonly Price[];
}

/** One model's price: the current one, its reason and its history. */
export default function ModelPage({ id }: PageProps) {
  const [isSetting, setSetting] = useState(false);
  const query = useQuery((signal) => load(id, signal), [id], refreshMs);
  const price = query.data?.history[0];
  const togglePin = async (): Promise<void> => {
    await (price?.pinned ? prices.unpinPrice({ model: id }) : prices.pinPrice({ model: id }));
    say(price?.pinned ? "The price moves again." : "The price stays where it is.");
    query.reload();
  };
  return (
    <Page
      title={id}
      parent={{ name: "Models", path: "/models" }}
      aside={price?.pinned && <Badge tone="warn">Pinned</Badge>}
      actions={
        mayOwn.value &&
        !isSetting && (
          <>
            <ActionButton act={togglePin}>{price?.pinned ? "Unpin" : "Pin"}</ActionButton>
            <button type="button" class="primary" onClick={() => setSetting(true)}>
              Set price
            </button>
          </>
        )
      }
    >
      <Answer query={query}>
        {({ model, history }) => (
          <>
            <CurrentPrice model={model} price={history[0]} />
            {!isCustomer.value && <Source what="The model" list="models" value={id} />}
            {history.length > 0 && <History history={history} hasOutput={model.kind !== ModelKind.EMBEDDING} />}
            {isSetting && (
              <SetPrice
                model={model}
                onClose={() => setSetting(false)}
                onDone={() => {
                  setSetting(false);
                  query.reload();
                }}
              />
            )}
          </>
        )}
      </Answer>
    </Page>
  );
}

async function load(id: string, signal: AbortSignal): Promise<Known> {
  const [{ model }, history] = await Promise.all([
    catalogue.getModel({ model: id }, { signal }),
    isCustomer.peek() ? [] : loadHistory(id, signal),
  ]);
  if (model === undefined) {
    throw new Error("There is no such model.");
  }
  return { model, history };
}

async function loadHistory(model: string, signal: AbortSignal): Promise<readonly Price[]> {
  return (await prices.listPriceHistory({ model, pageSize: historyLength }, { signal })).prices;
}
