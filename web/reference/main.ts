/** The REST API on a separate page, from the description that the server makes. Requests go to the same server. */
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
  // Otherwise Swagger UI sends our description to a server of its makers.
  validatorUrl: null,
})
