export interface OpenIdFlow {
  readonly issuer: string;
}
