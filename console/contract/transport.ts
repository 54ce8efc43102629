import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { connectionLost, connectionWorks } from "../app/connection.ts";
import { sessionEnded } from "../app/session.ts";
import { noteAge } from "./age.ts";
import { isLost } from "./failure.ts";
import { nameOwnAccount } from "./own-account.ts";

/** Tells the page from every call's result whether the server is reachable and whether the session has ended. */
const watch: Interceptor = (next) => async (request) => {
  try {
    const response = await next(request);
    connectionWorks();
    noteAge(response.header);
    return response;
  } catch (error) {
    const { code } = ConnectError.from(error);
    if (isLost(error)) {
      connectionLost();
    } else if (code !== Code.Canceled) {
      connectionWorks();
    }
    if (code === Code.Unauthenticated) {
      sessionEnded();
    }
    throw error;
  }
};

/** The transport for calls of the contract. They go to the page's own origin, with the session's cookie. */
export const transport = createConnectTransport({
  baseUrl: "/",
  useBinaryFormat: true,
  interceptors: [watch, nameOwnAccount],
});
