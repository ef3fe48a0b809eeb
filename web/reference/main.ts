/** The REST API as a page of its own, from the description that the server makes; requests go to the same server. */
import 'swagger-ui-dist/swagger-ui.css'
import './reference.css'
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'

SwaggerUI({
  domNode: document.getElementById('reference'),
  url: '/swagger/doc.json',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  filter: true,
  // Otherwise it sends our description to a server of its makers.
  validatorUrl: null,
})
