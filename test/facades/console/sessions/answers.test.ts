import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Dependencies } from "../../../../facades/console/dependencies.ts";
import type { CoreSessions } from "../../../../facades/console/sessions/core.ts";
import { followLink } from "../../../../facades/console/sessions/link.ts";
import { followMail } from "../../../../facades/console/sessions/mail.ts";
import { answerOidc } from "../../../../facades/console/sessions/oidc.ts";
import { plainSite } from "../../../support/plain-site.ts";

const refuse = () => Promise.reject(failure(Reason.RATE_LIMITED, "Too many calls in a minute."));
const core = { redeem: refuse, finishMail: refuse, beginOidc: refuse, finishOidc: refuse } as unknown as CoreSessions;
const parts = { reach: "tls", site: plainSite } as Dependencies;

type Follow = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

test.each<[string, Follow]>([
  ["a link", (request, response) => followLink("x", request, response, parts, core)],
  ["a mailed link", (request, response) => followMail("x", request, response, parts, core)],
  ["the way to a provider", (request, response) => answerOidc("/sign-in/corp", request, response, parts, core)],
  ["the way back", (request, response) => answerOidc("/sign-in/corp/callback", request, response, parts, core)],
])("%s that is followed too often is answered as such, not as a fault of the service", async (_, follow) => {
  const statuses: number[] = [];
  const response = {
    setHeader() {},
    writeHead: (status: number) => {
      statuses.push(status);
      return response;
    },
    end: () => response,
  } as unknown as ServerResponse;
  const request = { method: "GET", url: "/", headers: { host: "t" }, socket: {} } as unknown as IncomingMessage;
  await follow(request, response);
  expect(statuses).toEqual([429]);
});
