import type { Descriptions } from '../../description-texts.ts';

export const apiregistration: Descriptions = {
  'apiregistration.APIService': {
    $: 'The server of one version of an API group: this server, or another one behind a service. Its name is version.group.',
    spec: 'Group version and the server of it.',
    status: 'Whether that server can be reached.',
  },
  'apiregistration.APIServiceSpec': {
    $: 'The group version and its server.',
    service: 'Service of the server that requests are passed on to. Without it the group version is served here.',
    group: 'API group that is served. Empty for the core group.',
    version: 'API version that is served, such as v1.',
    insecureSkipTLSVerify:
      'Do not verify the certificate of the server. Strongly discouraged; caBundle must be empty then. Defaults to false.',
    caBundle: 'CA certificates in PEM, encoded in base64, that verify the server. Defaults to those of the system.',
    groupPriorityMinimum:
      'Priority of the group in discovery, from 1 to 20000; the greatest of its versions counts, and higher groups come first.',
    versionPriority: 'Priority of the version within its group, from 1 to 1000; higher ones come first.',
  },
  'apiregistration.APIServiceStatus': { $: 'The observed state of an API service.', conditions: 'Observed conditions, such as Available.' },
  'apiregistration.APIServiceCondition': {
    $: 'One observed aspect of the state of an API service.',
    type: 'Available: requests for the group version can be served.',
  },
  'apiregistration.ServiceReference': {
    $: 'The service in front of another API server.',
    namespace: 'Namespace of that service.',
    name: 'Name of that service.',
    port: 'Port of the service, from 1 to 65535. Defaults to 443.',
  },
};
