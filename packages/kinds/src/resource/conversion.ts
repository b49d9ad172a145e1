/**
 * Between version 1beta1 and the hub: a request has the fields of `exactly` beside its name, a device has its own in `basic`.
 *
 *   v1beta1  { name: 'r', deviceClassName: 'gpu', count: 2 }     v1  { name: 'r', exactly: { deviceClassName: 'gpu', count: 2 } }
 *   v1beta1  { name: 'd', basic: { attributes } }                v1  { name: 'd', attributes }
 */
import { compact } from '../compact.ts';
import { fillRequest } from './request-rules.ts';
import type * as claims from './schema/claims.ts';
import type * as slices from './schema/slices.ts';
import type * as v1beta1 from './schema/v1beta1.ts';

function requestToHub(request: v1beta1.DeviceRequest): claims.DeviceRequest {
  const { name, firstAvailable, ...exactly } = request;
  const isExact = exactly.deviceClassName !== '' || Object.keys(exactly).length > 1;
  return compact({ name, exactly: isExact ? exactly : undefined, firstAvailable }) as claims.DeviceRequest;
}
function requestFromHub({ name, exactly, firstAvailable }: claims.DeviceRequest): v1beta1.DeviceRequest {
  return compact({ name, deviceClassName: '', ...exactly, firstAvailable }) as v1beta1.DeviceRequest;
}

interface Claiming<R> {
  devices?: { requests?: R[] };
}
function withRequests<A, B>(spec: Claiming<A>, convert: (request: A) => B): Claiming<B> {
  const requests = spec?.devices?.requests?.map(convert);
  return requests === undefined ? (spec as unknown as Claiming<B>) : { ...spec, devices: { ...spec.devices, requests } };
}

export const claimToHub = (claim: v1beta1.ResourceClaim): claims.ResourceClaim =>
  ({ ...claim, spec: withRequests(claim.spec, requestToHub) }) as claims.ResourceClaim;
export const claimFromHub = (claim: claims.ResourceClaim): v1beta1.ResourceClaim =>
  ({ ...claim, spec: withRequests(claim.spec, requestFromHub) }) as v1beta1.ResourceClaim;

type Template<S> = { spec: { spec: S } };
export const templateToHub = (template: v1beta1.ResourceClaimTemplate): claims.ResourceClaimTemplate => inTemplate(template, requestToHub);
export const templateFromHub = (template: claims.ResourceClaimTemplate): v1beta1.ResourceClaimTemplate =>
  inTemplate(template, requestFromHub);
function inTemplate<A, B, R>(template: Template<Claiming<A>>, convert: (request: A) => B): R {
  if (template.spec?.spec === undefined) return template as R;
  return { ...template, spec: { ...template.spec, spec: withRequests(template.spec.spec, convert) } } as R;
}

const deviceToHub = ({ name, basic }: v1beta1.Device): slices.Device => ({ name, ...basic });
const deviceFromHub = ({ name, ...basic }: slices.Device): v1beta1.Device => ({ name, basic });

export function sliceToHub(slice: v1beta1.ResourceSlice): slices.ResourceSlice {
  if (slice.spec === undefined) return slice as slices.ResourceSlice;
  const { nodeName, allNodes, devices, ...spec } = slice.spec;
  const hubSpec = { ...spec, nodeName: nodeName || undefined, allNodes: allNodes || undefined, devices: devices?.map(deviceToHub) };
  return { ...slice, spec: compact(hubSpec) as slices.ResourceSliceSpec };
}
export function sliceFromHub(slice: slices.ResourceSlice): v1beta1.ResourceSlice {
  const { nodeName, allNodes, devices, ...spec } = slice.spec;
  const plain = { ...spec, nodeName: nodeName || undefined, allNodes: allNodes || undefined, devices: devices?.map(deviceFromHub) };
  return { ...slice, spec: compact(plain) as v1beta1.ResourceSlice['spec'] };
}

/** One device of the class, unless the request says otherwise. Requests without a class have alternatives. */
export function fillFlatRequests(spec: v1beta1.ResourceClaimSpec | undefined): void {
  for (const request of spec?.devices?.requests ?? []) {
    if (request.deviceClassName !== '') fillRequest(request);
    for (const one of request.firstAvailable ?? []) fillRequest(one);
  }
}
