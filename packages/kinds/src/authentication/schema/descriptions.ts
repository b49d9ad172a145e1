import type { Descriptions } from '../../description-texts.ts';

export const authentication: Descriptions = {
  'authentication.TokenReview': {
    $: 'Asks the server whether a bearer token is valid and whose it is. It is answered and not stored.',
    spec: 'Token to check.',
    status: 'Result of the check; the server fills it in.',
  },
  'authentication.TokenReviewSpec': {
    $: 'A token to check.',
    token: 'The opaque bearer token itself.',
    audiences: 'Identifiers of the asking service: the token must be meant for at least one. Defaults to the audience of the API server.',
  },
  'authentication.TokenReviewStatus': {
    $: 'The result of the check of a token.',
    authenticated: 'Whether the token belongs to a known user.',
    user: 'User that the token belongs to.',
    audiences: 'Those of the requested audiences that the token is meant for. If it is empty, the token is meant for the API server.',
    error: 'Why the token could not be checked.',
  },
  'authentication.UserInfo': {
    $: 'What is known of an authenticated user.',
    username: 'Name that uniquely identifies the user among all active ones.',
    uid: 'Identifier that distinguishes the user from later ones of the same name.',
    groups: 'Groups that the user is a member of.',
    extra: 'Additional information from the authenticator, by key.',
  },
  'authentication.TokenRequest': {
    $: 'Requests a token of a service account, through its token subresource.',
    spec: 'Audiences and lifetime of the token.',
    status: 'Issued token; the server fills it in.',
  },
  'authentication.TokenRequestSpec': {
    $: 'The properties of a requested token.',
    audiences: 'Recipients that the token is meant for; they must identify themselves with one of these. Defaults to the API server.',
    expirationSeconds: 'Requested lifetime, at least 600 seconds; the server may issue another. Defaults to 3600.',
    boundObjectRef: 'Pod or Secret that the token is bound to: the token becomes invalid when it is deleted.',
  },
  'authentication.TokenRequestStatus': {
    $: 'An issued token.',
    token: 'The opaque bearer token that was issued.',
    expirationTimestamp: 'When the token expires.',
  },
  'authentication.BoundObjectReference': {
    $: 'An object that a token is bound to.',
    kind: 'Pod or Secret.',
    apiVersion: 'Version of the object that the token is bound to: v1.',
    name: 'Name of the object that the token is bound to.',
    uid: 'UID of the object that the token is bound to. If it is set, it must match.',
  },
};
