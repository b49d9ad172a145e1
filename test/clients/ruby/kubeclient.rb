# The Ruby client: it learns the kinds of a group by discovery, and makes a method for each verb of each kind.
require_relative 'support'

CORE = client
APPS = client('apps')
RBAC = client("rbac.authorization.#{GROUP_SUFFIX}")

step 'discovery' do
  CORE.discover
  equal(CORE.respond_to?(:get_config_maps), true, 'whether config maps were found')
  equal(CORE.respond_to?(:create_endpoint), true, 'whether endpoints were found')
  equal(client("networking.#{GROUP_SUFFIX}").respond_to?(:get_network_policies), true, 'whether policies were found')
  equal(CORE.api_valid?, true, 'whether the API is one')
  equal(CORE.api['versions'], ['v1'], 'versions of the core group')
end

step 'create, get, update' do
  made = CORE.create_config_map(object('a', data: { k: 'v' }))
  equal(CORE.get_config_map('a', NAMESPACE).data.to_h, { k: 'v' }, 'data')
  changed = CORE.get_config_map('a', NAMESPACE)
  changed.data.k = 'w'
  equal(CORE.update_config_map(changed).data.k, 'w', 'data after the update')
  refused(409) { CORE.update_config_map(made) }
  refused(409) { CORE.create_config_map(object('a')) }
  equal(refused(422) { CORE.create_config_map(object('Wrong')) }.include?('metadata.name'), true, 'a refusal that names the field')
  equal(refused(404) { CORE.get_config_map('absent', NAMESPACE) }, 'configmaps "absent" not found', 'refusal')
end

step 'list in pages' do
  5.times { |index| CORE.create_secret(object("page#{index}", labels: { pages: '' })) }
  seen = []
  versions = []
  token = nil
  loop do
    page = CORE.get_secrets(namespace: NAMESPACE, label_selector: 'pages', limit: 2, continue: token)
    seen << names(page)
    versions << page.resourceVersion
    break if page.last?

    token = page.continue
    # An object that comes between two pages is not on the later ones.
    CORE.create_secret(object("page9#{seen.length}", labels: { pages: '' }))
  end
  equal(seen, [%w[page0 page1], %w[page2 page3], %w[page4]], 'pages')
  equal(versions.uniq.length, 1, 'number of resource versions')
  equal(names(CORE.get_secrets(namespace: NAMESPACE, field_selector: 'metadata.name=page3')), ['page3'], 'names by field')
end

def deployment(name)
  labels = { app: name }
  containers = [{ name: 'web', image: 'example.com/web:1' }]
  template = { metadata: { labels: labels }, spec: { containers: containers } }
  object(name, spec: { selector: { matchLabels: labels }, template: template })
end

step 'patches' do
  APPS.create_deployment(deployment('patched'))
  side = ->(name) { { spec: { template: { spec: { containers: [{ name: name, image: 's' }] } } } } }
  containers = ->(changed) { changed.spec.template.spec.containers.map(&:name) }
  equal(containers.call(APPS.patch_deployment('patched', side.call('side'), NAMESPACE)), %w[side web], 'after the strategic merge patch')
  remove = [{ op: 'remove', path: '/spec/template/spec/containers/0' }]
  equal(containers.call(APPS.json_patch_deployment('patched', remove, NAMESPACE)), ['web'], 'after the JSON patch')
  equal(containers.call(APPS.merge_patch_deployment('patched', side.call('only'), NAMESPACE)), ['only'], 'after the merge patch')
  refused(422) { APPS.json_patch_deployment('patched', [{ op: 'test', path: '/spec/replicas', value: 9 }], NAMESPACE) }
end

step 'apply' do
  apply = lambda do |data, manager, force|
    body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied', namespace: NAMESPACE }, data: data }
    CORE.apply_config_map(body, field_manager: manager, force: force)
  end
  made = apply.call({ a: '1' }, 'one', false)
  equal(made.metadata.managedFields.map { |entry| [entry.manager, entry.operation] }, [%w[one Apply]], 'managers')
  equal(refused(409) { apply.call({ a: '2' }, 'two', false) }.include?('.data.a'), true, 'a conflict that names the field')
  equal(apply.call({ a: '2' }, 'two', true).data.to_h, { a: '2' }, 'data after a forced apply')
  equal(apply.call({ b: '1' }, 'two', false).data.to_h, { b: '1' }, 'data after a field was dropped')
end

step 'watch and resume' do
  since = CORE.get_config_maps(namespace: NAMESPACE).resourceVersion
  CORE.create_config_map(object('w', data: { n: '1' }, labels: { watched: '' }))
  CORE.create_config_map(object('other'))
  CORE.merge_patch_config_map('w', { data: { n: '2' } }, NAMESPACE)
  watch = ->(version) { CORE.watch_config_maps(namespace: NAMESPACE, label_selector: 'watched', resource_version: version) }
  summary = ->(list) { list.map { |event| [event.type, event.object.data.n] } }
  first = events(watch.call(since), 2)
  equal(summary.call(first), [%w[ADDED 1], %w[MODIFIED 2]], 'events')
  # What happens while nobody watches is reported to the watch that resumes.
  CORE.merge_patch_config_map('w', { data: { n: '3' } }, NAMESPACE)
  CORE.delete_config_map('w', NAMESPACE)
  last = first.last.object.metadata.resourceVersion
  equal(summary.call(events(watch.call(last), 2)), [%w[MODIFIED 3], %w[DELETED 3]], 'events after the resume')
  # One object alone, by its path.
  one = CORE.watch_config_maps(namespace: NAMESPACE, name: 'w', resource_version: last)
  equal(summary.call(events(one, 2)), [%w[MODIFIED 3], %w[DELETED 3]], 'events of one object')
end

step 'service account token' do
  CORE.create_service_account(object('robot'))
  domain = ENV.fetch('DOMAIN')
  secret = object('robot-token', type: "#{domain}/service-account-token")
  secret.metadata[:annotations] = { "#{domain}/service-account.name" => 'robot' }
  since = CORE.create_secret(secret).metadata.resourceVersion
  stream = CORE.watch_secrets(namespace: NAMESPACE, field_selector: 'metadata.name=robot-token', resource_version: since)
  filled = events(stream) { |event| !event.object.data.nil? && !event.object.data.token.nil? }.first
  robot = client_with_token(bearer_token: Base64.decode64(filled.object.data.token))
  user = "system:serviceaccount:#{NAMESPACE}:robot"
  equal(refused(403) { robot.get_config_maps(namespace: NAMESPACE) }.include?("User \"#{user}\""), true, 'a refusal that names the account')
  RBAC.create_role_binding(
    object(
      'robots',
      roleRef: { apiGroup: "rbac.authorization.#{GROUP_SUFFIX}", kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: NAMESPACE }]
    )
  )
  equal(names(robot.get_config_maps(namespace: NAMESPACE)).include?('a'), true, 'whether the account sees config maps')
  refused(403) { robot.create_config_map(object('forbidden')) }
  file = File.join(ENV.fetch('TMPDIR'), 'robot-token')
  File.write(file, Base64.decode64(filled.object.data.token))
  by_file = client_with_token(bearer_token_file: file)
  equal(by_file.get_config_map('a', NAMESPACE).metadata.name, 'a', 'name of what the account reads by a token in a file')
  refused(401) { client_with_token(bearer_token: 'wrong').get_config_maps(namespace: NAMESPACE) }
end

step 'client certificate, requested and signed' do
  key = OpenSSL::PKey::EC.generate('prime256v1')
  request = OpenSSL::X509::Request.new
  request.subject = OpenSSL::X509::Name.new([%w[CN dora]])
  request.public_key = key
  request.sign(key, OpenSSL::Digest.new('SHA256'))
  certificates = client("certificates.#{GROUP_SUFFIX}")
  spec = { request: Base64.strict_encode64(request.to_pem), signerName: ENV.fetch('CLIENT_SIGNER'), usages: ['client auth'] }
  made = certificates.create_certificate_signing_request(Kubeclient::Resource.new(metadata: { name: 'dora' }, spec: spec))
  made.status = { conditions: [{ type: 'Approved', status: 'True', reason: 'Tested', message: 'by the script' }] }
  # The client has no method for subresources; its REST client takes any path.
  body = made.to_h.to_json
  certificates.rest_client['certificatesigningrequests/dora/approval'].put(body, { 'Content-Type' => 'application/json' })
  stream = certificates.watch_certificate_signing_requests(
    field_selector: 'metadata.name=dora', resource_version: made.metadata.resourceVersion
  )
  signed = events(stream) { |event| !event.object.status.certificate.nil? }.first
  pem = Base64.decode64(signed.object.status.certificate)
  ssl = CONFIG.context('admin').ssl_options.merge(client_cert: OpenSSL::X509::Certificate.new(pem), client_key: key)
  dora = client(ssl_options: ssl)
  equal(refused(403) { dora.get_config_maps(namespace: NAMESPACE) }.include?('User "dora"'), true, 'a refusal that names the user')
  refused(403) { events(dora.watch_config_maps(namespace: NAMESPACE)) }
end

step 'credential plug-ins' do
  alice = client(context: 'plugin')
  equal(alice.create_config_map(object('alices')).metadata.name, 'alices', 'name')
  equal(refused(403) { alice.get_nodes }.include?('User "alice"'), true, 'a refusal that names alice')
  carol = client(context: 'plugin-certificate')
  equal(carol.get_config_map('alices', NAMESPACE).metadata.name, 'alices', 'name')
  equal(refused(403) { carol.delete_config_map('alices', NAMESPACE) }.include?('User "carol"'), true, 'a refusal that names carol')
end

step 'every kind is listed' do
  kinds = CORE.all_entities(namespace: NAMESPACE)
  equal(kinds['config_map'].kind, 'ConfigMap', 'kind of the list')
  equal(%w[pod secret service endpoint service_account].all? { |kind| kinds.key?(kind) }, true, 'whether all were listed')
end

step 'delete with options and collections' do
  made = CORE.create_config_map(object('gone', labels: { set: 'a' }))
  refused(409) { CORE.delete_config_map('gone', NAMESPACE, delete_options: { preconditions: { uid: 'other' } }) }
  options = Kubeclient::Resource.new(propagationPolicy: 'Background', gracePeriodSeconds: 0, preconditions: { uid: made.metadata.uid })
  CORE.delete_config_map('gone', NAMESPACE, delete_options: options)
  refused(404) { CORE.delete_config_map('gone', NAMESPACE) }
  APPS.create_deployment(deployment('kept'))
  orphan = { propagationPolicy: 'Orphan', apiVersion: 'apps/v1', kind: 'DeleteOptions' }
  since = APPS.get_deployments(namespace: NAMESPACE).resourceVersion
  APPS.delete_deployment('kept', NAMESPACE, delete_options: orphan)
  stream = APPS.watch_deployments(namespace: NAMESPACE, field_selector: 'metadata.name=kept', resource_version: since)
  events(stream) { |event| event.type == 'DELETED' }
  # The client has no method for collections; its REST client takes any path.
  3.times { |index| CORE.create_config_map(object("set#{index}", labels: { set: index == 2 ? 'b' : 'c' })) }
  CORE.rest_client["namespaces/#{NAMESPACE}/configmaps"].delete('params' => { 'labelSelector' => 'set=c' })
  equal(names(CORE.get_config_maps(namespace: NAMESPACE, label_selector: 'set')), ['set2'], 'names that are left')
end

exit($failed ? 1 : 0)
