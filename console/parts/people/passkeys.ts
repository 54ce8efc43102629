/** What the browser makes or asks a passkey from, and what goes back with its answer. */
export interface Offer {
  readonly options: object;
  readonly pending: string;
}

/** Whether this browser makes and uses passkeys. */
export const knowsPasskeys =
  typeof PublicKeyCredential === "function" && "parseCreationOptionsFromJSON" in PublicKeyCredential;

/** Has the browser make a passkey. Returns its answer as JSON. */
export async function makePasskey(options: object): Promise<string> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON);
  return toJson(await navigator.credentials.create({ publicKey }).catch(explain));
}

/** Has the browser ask the person for a passkey. Returns its answer as JSON. */
export async function usePasskey(options: object): Promise<string> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON);
  return toJson(await navigator.credentials.get({ publicKey }).catch(explain));
}

function toJson(credential: Credential | null): string {
  if (!(credential instanceof PublicKeyCredential)) {
    throw new Error("The browser gave no passkey.");
  }
  return JSON.stringify(credential.toJSON());
}

function explain(error: unknown): never {
  switch ((error as DOMException).name) {
    case "NotAllowedError":
      throw new Error("No passkey was used: it was cancelled, or took too long.");
    case "InvalidStateError":
      throw new Error("This device has a passkey of yours already.");
    default:
      throw error;
  }
}
