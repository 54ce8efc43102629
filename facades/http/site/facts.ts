/** What the public pages tell of whoever runs the service. */
export interface SiteFacts {
  readonly name: string;
  /** The logo as a data: address. Undefined: Tollgate's mark. */
  readonly logo: string | undefined;
  /** Of marks and plots, such as "#126b52". Undefined: Tollgate's green. */
  readonly colour: string | undefined;
  readonly terms: string | undefined;
  readonly privacy: string | undefined;
  /** A web or an e-mail address. */
  readonly support: string | undefined;
  /** Where people find the console. */
  readonly address: string | undefined;
}
