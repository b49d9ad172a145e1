/** Endpoint slices as version 1beta1 shows them. */
import { always, type Infer, int32, list, map, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectReference } from '../../core/schema/references.ts';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

const EndpointConditions = inVersion(v1.EndpointConditions, 'discovery.v1beta1');

const EndpointHints = inVersion(v1.EndpointHints, 'discovery.v1beta1');

export const Endpoint = message('discovery.v1beta1.Endpoint', {
  addresses: req(1, list(string, 'set')),
  conditions: always(2, EndpointConditions),
  hostname: ptr(3, string),
  targetRef: ptr(4, ObjectReference),
  topology: opt(5, map(string)),
  nodeName: ptr(6, string),
  hints: ptr(7, EndpointHints),
});
export type Endpoint = Infer<typeof Endpoint>;

const EndpointPort = message('discovery.v1beta1.EndpointPort', {
  name: ptr(1, string, { default: '' }),
  protocol: ptr(2, string, { default: 'TCP' }),
  port: ptr(3, int32),
  appProtocol: ptr(4, string),
});

export const EndpointSlice = object('discovery.v1beta1.EndpointSlice', {
  metadata: always(1, ObjectMeta),
  addressType: req(4, string),
  endpoints: req(2, list(Endpoint)),
  ports: always(3, list(EndpointPort)),
});
export type EndpointSlice = Infer<typeof EndpointSlice>;
