/** Token reviews and token requests. */
import { always, bool, boxed, type Infer, int64, list, map, message, object, opt, req, string, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

const BoundObjectReference = message('authentication.v1.BoundObjectReference', {
  kind: opt(1, string),
  apiVersion: opt(2, string),
  name: opt(3, string),
  uid: opt(4, string),
});

export const TokenRequestSpec = message('authentication.v1.TokenRequestSpec', {
  audiences: req(1, list(string)),
  expirationSeconds: always(4, int64, { nullable: true, default: 3600 }),
  boundObjectRef: always(3, BoundObjectReference, { nullable: true }),
});
export type TokenRequestSpec = Infer<typeof TokenRequestSpec>;

const TokenRequestStatus = message('authentication.v1.TokenRequestStatus', {
  token: req(1, string),
  expirationTimestamp: req(2, time),
});

export const TokenRequest = object('authentication.v1.TokenRequest', {
  metadata: always(1, ObjectMeta),
  spec: req(2, TokenRequestSpec),
  status: always(3, TokenRequestStatus),
});
export type TokenRequest = Infer<typeof TokenRequest>;

export const TokenReviewSpec = message('authentication.v1.TokenReviewSpec', {
  token: opt(1, string),
  audiences: opt(2, list(string)),
});
export type TokenReviewSpec = Infer<typeof TokenReviewSpec>;

export const UserInfo = message('authentication.v1.UserInfo', {
  username: opt(1, string),
  uid: opt(2, string),
  groups: opt(3, list(string)),
  extra: opt(4, map(boxed(list(string)))),
});
export type UserInfo = Infer<typeof UserInfo>;

export const TokenReviewStatus = message('authentication.v1.TokenReviewStatus', {
  authenticated: opt(1, bool),
  user: always(2, UserInfo),
  audiences: opt(4, list(string)),
  error: opt(3, string),
});
export type TokenReviewStatus = Infer<typeof TokenReviewStatus>;

export const TokenReview = object('authentication.v1.TokenReview', {
  metadata: always(1, ObjectMeta),
  spec: req(2, TokenReviewSpec),
  status: always(3, TokenReviewStatus),
});
export type TokenReview = Infer<typeof TokenReview>;
