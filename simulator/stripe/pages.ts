import { StripeError } from "./error.ts";
import type { Params } from "./form.ts";
import { text } from "./form.ts";
import type { Host } from "./routes.ts";
import { find } from "./state.ts";

/** An answer for a browser. */
export interface Page {
  readonly status: number;
  readonly html?: string;
  readonly location?: string;
}

/** A page by its path, and what its buttons do. Undefined: there is no such page. */
export function openPage(host: Host, method: string, path: string, form: Params): Page | undefined {
  const [, kind, id = ""] = /^\/(c\/pay|p\/session|invoices|payments)\/([^/]+)$/.exec(path) ?? [];
  try {
    switch (path === "/" ? "/" : kind) {
      case "/":
        return show("Payments", dashboard(host));
      case "c/pay":
        return method === "POST" ? pay(host, id, form) : checkout(host, id);
      case "p/session":
        return method === "POST" ? changeCard(host, id, form) : portal(host, id);
      case "payments":
        return method === "POST" ? act(host, id, form) : undefined;
      case "invoices": {
        const { number, total } = find(host.state.invoices, id);
        return show(`Invoice ${number}`, `<p>Paid: ${usd(total)} USD</p>`);
      }
      default:
        return undefined;
    }
  } catch (error) {
    if (error instanceof StripeError) {
      return show("That did not work", `<p>${toHtml(error.message)}</p>`, error.status);
    }
    throw error;
  }
}

function checkout({ state }: Host, id: string, problem = "", status = 200): Page {
  const { status: sessionStatus, amount_subtotal: subtotal, amount_total: total } = find(state.sessions, id);
  if (sessionStatus !== "open") {
    return show("Checkout", `<p>This checkout is ${sessionStatus}.</p>`, 410);
  }
  const tax = (total ?? 0) - (subtotal ?? 0);
  const body = `
    <p>Prepaid credit: ${usd(subtotal)} USD${tax > 0 ? `, taxes: ${usd(tax)} USD` : ""}</p>
    <p><strong>To pay: ${usd(total)} USD</strong></p>
    ${problem === "" ? "" : `<p role="alert">${toHtml(problem)}</p>`}
    <form method="post">
      ${state.orders.get(id)?.saves ? '<p><label><input type="checkbox" name="save" value="on"> Save the card</label></p>' : ""}
      <button name="result" value="paid">Pay</button>
      <button name="result" value="declined">Card is declined</button>
      <button name="result" value="canceled">Cancel</button>
    </form>`;
  return show("Checkout", body, status);
}

function pay(host: Host, id: string, form: Params): Page {
  const session = find(host.state.sessions, id);
  const fill = (url: string | null) => (url ?? `${host.state.url}/`).replaceAll("{CHECKOUT_SESSION_ID}", id);
  switch (text(form, "result")) {
    case "paid":
      if (session.status === "expired") {
        return checkout(host, id);
      }
      host.bank.pay(session, text(form, "save") !== undefined);
      return { status: 303, location: fill(session.success_url) };
    case "canceled":
      return { status: 303, location: fill(session.cancel_url) };
    default:
      return checkout(host, id, "The card was declined.", 402);
  }
}

function portal({ state }: Host, id: string): Page {
  const { customer, return_url: back } = find(state.portals, id);
  const cards = [...state.cards.values()].filter((card) => card.customer === customer);
  const rows = cards.map(
    ({ id: card, card: { last4 } }) =>
      `<li>Visa ${last4}, ${state.declining.has(card) ? "declined by its bank" : "works"}</li>`,
  );
  const body = `
    <ul>${rows.join("") || "<li>No card is saved.</li>"}</ul>
    <form method="post">
      <button name="card" value="works">A card that works</button>
      <button name="card" value="declined">A card that is declined</button>
      <button name="card" value="none">No card</button>
    </form>
    ${back === null ? "" : `<p><a href="${toHtml(back)}">Back</a></p>`}`;
  return show("Card and address", body);
}

function changeCard(host: Host, id: string, form: Params): Page {
  const { state, bank } = host;
  const { customer } = find(state.portals, id);
  for (const [key, card] of state.cards) {
    if (card.customer === customer) {
      state.cards.delete(key);
    }
  }
  const choice = text(form, "card");
  const card = choice === "none" ? null : bank.saveCard(customer);
  if (card !== null && choice === "declined") {
    state.declining.add(card);
  }
  find(state.customers, customer).invoice_settings.default_payment_method = card;
  return { status: 303, location: `/p/session/${id}` };
}

/** What Stripe's dashboard does: refunds and, as a bank, disputes. */
function act({ state, bank }: Host, id: string, form: Params): Page {
  switch (text(form, "act")) {
    case "refund":
      bank.refund(id, undefined);
      break;
    case "dispute":
      bank.dispute(id);
      break;
    case "win":
    case "lose": {
      const dispute = [...state.disputes.values()].find((one) => one.payment_intent === id);
      bank.decide(dispute?.id ?? "", text(form, "act") === "win" ? "won" : "lost");
    }
  }
  return { status: 303, location: "/" };
}

function dashboard({ state }: Host): string {
  const rows = [...state.intents.values()].reverse().map(({ id, amount, status }) => {
    const buttons = ["refund", "dispute", "win", "lose"].map(
      (name) => `<button name="act" value="${name}">${name}</button>`,
    );
    return `<tr><td><code>${id}</code></td><td>${usd(amount)} USD</td><td>${status}</td>
      <td><form method="post" action="/payments/${id}">${buttons.join(" ")}</form></td></tr>`;
  });
  return rows.length === 0 ? "<p>No payments yet.</p>" : `<table>${rows.join("")}</table>`;
}

function show(title: string, body: string, status = 200): Page {
  const html = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${toHtml(title)} · stand-in for Stripe</title>
<style>body{font:16px/1.5 system-ui;max-width:42rem;margin:2rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}</style>
<main>
<p><em>A stand-in for Stripe. No money moves.</em></p>
<h1>${toHtml(title)}</h1>
${body}
</main>
</html>`;
  return { status, html };
}

const usd = (cents: number | null) => ((cents ?? 0) / 100).toFixed(2);

function toHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
